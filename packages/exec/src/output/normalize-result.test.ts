import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ExecFailure, ExecOutput } from './exec-output.ts'
import { failureMessage } from './failure-message.ts'
import { normalizeResult } from './normalize-result.ts'

const output: ExecOutput = {
  exitCode: 3,
  stdout: 'out',
  stderr: 'err',
  aggregated: 'err out',
  durationMs: 1500,
  timedOut: false,
}
const failed = (failure: ExecFailure) => normalizeResult({ kind: 'failed', failure })
const said = (message: string): ExecOutput => ({
  exitCode: -1,
  stdout: '',
  stderr: message,
  aggregated: message,
  durationMs: 0,
  timedOut: false,
})

describe('a result', () => {
  test('is shown as it is, also what there was before the time was over', () => {
    assert.equal(normalizeResult({ kind: 'finished', output }), output)
    const late = { ...output, timedOut: true }
    assert.equal(failed({ kind: 'timed-out', output: late }), late)
  })

  test('that there is none of is shown as what was said about it', () => {
    assert.deepEqual(normalizeResult({ kind: 'rejected', message: 'rejected by user' }), said('rejected by user'))
    assert.deepEqual(failed({ kind: 'other', error: new Error('no such program') }), said('no such program'))
    assert.deepEqual(failed({ kind: 'denied', output }), said('err out'))
  })
})

describe('a failure in words', () => {
  test('of a denied command is what it said, or else that it was denied', () => {
    const denied = (changes: Partial<ExecOutput>) =>
      failureMessage({ kind: 'denied', output: { ...output, ...changes } })
    assert.equal(denied({}), 'err out')
    assert.equal(denied({ aggregated: ' \n' }), 'err\nout')
    assert.equal(denied({ aggregated: '', stderr: ' ' }), 'out')
    assert.equal(denied({ aggregated: '', stderr: '', stdout: '\n' }), 'command failed inside sandbox with exit code 3')
  })

  test('says how long it took, or what is missing', () => {
    assert.equal(failureMessage({ kind: 'timed-out', output }), 'error: command timed out after 1500 ms')
    assert.equal(
      failureMessage({ kind: 'missing-variable', name: 'TOKEN', instructions: 'Set it.' }),
      'Missing environment variable: `TOKEN`. Set it.',
    )
    assert.equal(failureMessage({ kind: 'missing-variable', name: 'TOKEN' }), 'Missing environment variable: `TOKEN`.')
  })

  test('is cut in the middle', () => {
    assert.equal(
      failureMessage({ kind: 'other', error: new Error(`a${'x'.repeat(4000)}z`) }),
      `a${'x'.repeat(1023)}…1954 chars truncated…${'x'.repeat(1023)}z`,
    )
  })
})
