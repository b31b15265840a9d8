import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromPosixPath } from '@waldo/protocol'
import type { ApprovalSubject } from './approver.ts'
import { commandSubject, sampleRequest } from './fixtures/sample-request.ts'
import { offeredAnswers } from './offered-answers.ts'

const cwd = fromPosixPath('/home/me/project')
const LASTING: Readonly<Record<ApprovalSubject['kind'], readonly [ApprovalSubject, string]>> = {
  command: [commandSubject(['npm', 'test']), 'the same command, here, with the same sandbox'],
  patch: [{ kind: 'patch', cwd, files: [] }, 'any change of this kind to these files'],
  network: [
    { kind: 'network', host: 'a.test', port: 443, protocol: 'https', command: ['curl'] },
    'any command, to this host, port and protocol',
  ],
  permissions: [{ kind: 'permissions', cwd, permissions: { network: true, read: [], write: [] } }, 'any command'],
}

describe('an answer for the conversation', () => {
  for (const [kind, [subject, reach]] of Object.entries(LASTING)) {
    test(`says what it covers (${kind})`, () => {
      const answer = offeredAnswers(sampleRequest({ subject })).find(({ key }) => key === 's')
      assert.deepEqual(answer, {
        key: 's',
        label: `yes, for this conversation: ${reach}`,
        decision: { kind: 'approved_for_session' },
      })
    })
  }

  test('is not offered where it makes no sense', () => {
    const answers = offeredAnswers(sampleRequest({ decisions: ['approved'] }))
    assert.deepEqual(
      answers.map(({ key }) => key),
      ['y', 'n', 'q'],
    )
  })
})

test('a yes holds for the turn if it is for permissions, and once for everything else', () => {
  for (const [kind, [subject]] of Object.entries(LASTING)) {
    const label = offeredAnswers(sampleRequest({ subject })).find(({ key }) => key === 'y')?.label
    assert.equal(label, kind === 'permissions' ? 'yes, for this turn: any command' : 'yes, once')
  }
})
