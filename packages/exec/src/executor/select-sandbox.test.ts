import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sandboxProfiles } from '@waldo/environment'
import { type ShellSituation, selectSandbox } from './select-sandbox.ts'

const sandbox = sandboxProfiles.readOnly()
const plain: ShellSituation = {
  approvalPolicy: 'on-request',
  sandbox,
  isEnforceable: true,
  danger: undefined,
  isApproved: false,
  wantsOut: false,
}
const bare = { kind: 'run', sandbox: undefined, escalatesOnFailure: false }
const confined = (escalatesOnFailure: boolean) => ({ kind: 'run', sandbox, escalatesOnFailure })

describe('where a command starts out', () => {
  const rows: [string, Partial<ShellSituation>, object][] = [
    ['a dangerous one is asked about', { danger: 'rm -f' }, { kind: 'ask', reason: 'rm -f' }],
    [
      'a dangerous one is rejected if nobody may be asked',
      { danger: 'rm -f', approvalPolicy: 'never' },
      { kind: 'reject', reason: 'dangerous command detected; rejected by user approval settings' },
    ],
    ['a dangerous one that was approved before runs', { danger: 'rm -f', isApproved: true }, bare],
    ['one that was approved before runs without sandbox', { isApproved: true, approvalPolicy: 'untrusted' }, bare],
    ['untrusted asks', { approvalPolicy: 'untrusted' }, { kind: 'ask' }],
    ['untrusted asks with full access, too', { approvalPolicy: 'untrusted', sandbox: undefined }, { kind: 'ask' }],
    ['full access runs', { sandbox: undefined }, bare],
    ['full access runs what asks to leave', { sandbox: undefined, wantsOut: true }, bare],
    ['on-request asks about what asks to leave', { wantsOut: true }, { kind: 'ask' }],
    ['never does not', { wantsOut: true, approvalPolicy: 'never' }, confined(false)],
    ['on-request runs it inside', {}, confined(false)],
    ['on-failure runs it inside, and asks when that fails', { approvalPolicy: 'on-failure' }, confined(true)],
    ['never runs it inside', { approvalPolicy: 'never' }, confined(false)],
    [
      'without a sandbox somebody is asked',
      { isEnforceable: false },
      { kind: 'ask', reason: 'there is no sandbox here to run it in' },
    ],
    [
      'without a sandbox and anybody to ask it is rejected',
      { isEnforceable: false, approvalPolicy: 'never' },
      { kind: 'reject', reason: 'auto-rejected because command is not on trusted list' },
    ],
  ]
  for (const [title, situation, expected] of rows) {
    test(title, () => assert.deepEqual(selectSandbox({ ...plain, ...situation }), expected))
  }
})
