import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { CommandToJudge } from './command-policy.ts'
import { call, policyOf, UNRESTRICTED } from './fixtures/sample-policy.ts'

const RULES = `
prefix_rule(["kept"])
prefix_rule(["free"], sandbox="bypass")
prefix_rule(["asked"], "prompt")
prefix_rule(["asked", "why"], "prompt", justification="it costs money")
prefix_rule(["never"], "forbidden")
prefix_rule(["never", "ever"], "forbidden", justification="use kept instead")
`

const granular = (sandboxApproval: boolean, rules: boolean): ApprovalPolicy => ({
  granular: { sandboxApproval, rules, requestPermissions: false },
})
const ESCALATED = { sandboxPermissions: 'require_escalated' } as const
const WIDENED = { sandboxPermissions: 'with_additional_permissions' } as const
const FREE_FILES = { permissions: UNRESTRICTED }
const EXTERNAL = { permissions: { type: 'external', network: 'restricted' } } as const
const NETWORK_ONLY = {
  permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
} as const
const MANAGED_NETWORK = { ...FREE_FILES, hasManagedNetwork: true } as const
const DISABLED = { permissions: { type: 'disabled' } } as const

const NEVER = 'forbidden: approval required by policy, but AskForApproval is set to Never'
const NO_RULES = 'forbidden: approval required by policy rule, but AskForApproval::Granular.rules is false'
const rejected = (script: string, why: string) => `forbidden: \`/bin/bash -lc ${script}\` rejected: ${why}`
const FORCED = 'rm -f style commands are not permitted. Use a safer approach'

const unaskable = (name: string) =>
  `forbidden: approval policy is ${name}; reject command — you cannot ask for escalated permissions if the approval policy is ${name}`

type Row = readonly [policy: ApprovalPolicy, script: string, rest: Partial<CommandToJudge>, requirement: string]

const ROWS: readonly Row[] = [
  // Nobody is there to be asked.
  ['never', 'plain', {}, 'skip'],
  ['never', 'plain', FREE_FILES, 'skip'],
  ['never', 'rm -rf x', {}, rejected("'rm -rf x'", FORCED)],
  ['never', 'rm -rf x', FREE_FILES, rejected("'rm -rf x'", FORCED)],
  ['never', 'asked', {}, NEVER],
  ['never', 'asked', FREE_FILES, NEVER],
  ['never', 'plain', ESCALATED, unaskable('never')],
  ['never', 'plain', WIDENED, unaskable('never')],
  ['never', 'plain', { ...ESCALATED, ...FREE_FILES }, unaskable('never')],
  ['never', 'kept', {}, 'skip'],
  ['never', 'kept', ESCALATED, unaskable('never')],
  ['never', 'free', {}, 'skip, outside'],
  ['never', 'free', ESCALATED, unaskable('never')],
  // Somebody is asked about leaving the sandbox.
  ['on-request', 'plain', {}, 'skip'],
  ['on-request', 'plain', FREE_FILES, 'skip'],
  ['on-request', 'plain', ESCALATED, 'ask'],
  ['on-request', 'plain', { ...ESCALATED, ...FREE_FILES }, 'skip'],
  ['on-request', 'plain', { ...ESCALATED, ...EXTERNAL }, 'skip'],
  ['on-request', 'plain', { ...ESCALATED, ...DISABLED }, 'skip'],
  // A sandbox around the network alone is one to leave, too.
  ...[NETWORK_ONLY, MANAGED_NETWORK, { ...EXTERNAL, hasManagedNetwork: true }].flatMap((confined): Row[] => [
    ['on-request', 'plain', confined, 'skip'],
    ['on-request', 'plain', { ...ESCALATED, ...confined }, 'ask'],
    ['on-request', 'plain', { ...WIDENED, ...confined }, 'ask'],
    ['on-request', 'kept', { ...ESCALATED, ...confined }, 'ask'],
    ['on-request', 'free', { ...ESCALATED, ...confined }, 'skip, outside'],
    ['never', 'plain', { ...ESCALATED, ...confined }, unaskable('never')],
    [granular(false, true), 'plain', { ...WIDENED, ...confined }, unaskable('granular')],
  ]),
  ['on-request', 'plain', { ...ESCALATED, ...DISABLED, hasManagedNetwork: true }, 'skip'],
  ['on-request', 'plain', WIDENED, 'ask'],
  ['on-request', 'rm -rf x', {}, 'ask'],
  ['on-request', 'rm -rf x', FREE_FILES, 'ask'],
  ['on-request', 'asked', {}, 'ask: `/bin/bash -lc asked` requires approval by policy'],
  ['on-request', 'asked why', {}, "ask: `/bin/bash -lc 'asked why'` requires approval: it costs money"],
  ['on-request', 'kept', {}, 'skip'],
  ['on-request', 'kept', ESCALATED, 'ask'],
  ['on-request', 'kept', { ...ESCALATED, ...FREE_FILES }, 'skip'],
  ['on-request', 'kept', WIDENED, 'ask'],
  ['on-request', 'free', {}, 'skip, outside'],
  ['on-request', 'free', ESCALATED, 'skip, outside'],
  ['on-request', 'free && kept', {}, 'skip'],
  ['on-request', 'free && kept', ESCALATED, 'ask'],
  ['on-request', 'free && free x', ESCALATED, 'skip, outside'],
  ['on-request', 'free && plain', {}, 'skip'],
  ['on-request', 'free && plain', ESCALATED, 'ask'],
  ['on-request', 'free && asked', {}, "ask: `/bin/bash -lc 'free && asked'` requires approval by policy"],
  // Somebody is asked about everything that no rule allows.
  ['untrusted', 'plain', {}, 'ask'],
  ['untrusted', 'plain', FREE_FILES, 'ask'],
  ['untrusted', 'plain', ESCALATED, 'ask'],
  ['untrusted', 'rm -rf x', {}, 'ask'],
  ['untrusted', 'kept', {}, 'skip'],
  ['untrusted', 'kept', ESCALATED, 'ask'],
  ['untrusted', 'kept && plain', {}, 'ask'],
  ['untrusted', 'free', {}, 'skip, outside'],
  ['untrusted', 'free | kept', {}, 'skip'],
  ['untrusted', 'asked', {}, 'ask: `/bin/bash -lc asked` requires approval by policy'],
  // Some kinds of questions only.
  [granular(true, true), 'plain', {}, 'skip'],
  [granular(true, true), 'plain', ESCALATED, 'ask'],
  [granular(true, true), 'plain', { ...ESCALATED, ...FREE_FILES }, 'skip'],
  [granular(false, true), 'plain', {}, 'skip'],
  [granular(false, true), 'plain', ESCALATED, unaskable('granular')],
  [granular(false, true), 'plain', WIDENED, unaskable('granular')],
  [granular(false, true), 'kept', ESCALATED, unaskable('granular')],
  [granular(false, true), 'rm -rf x', {}, rejected("'rm -rf x'", FORCED)],
  [granular(true, false), 'rm -rf x', {}, 'ask'],
  [granular(false, true), 'asked', {}, 'ask: `/bin/bash -lc asked` requires approval by policy'],
  [granular(true, false), 'asked', {}, NO_RULES],
  [granular(true, false), 'asked && rm -rf x', {}, NO_RULES],
  [granular(false, true), 'asked', ESCALATED, unaskable('granular')],
  [granular(false, true), 'asked && rm -rf x', {}, rejected("'asked && rm -rf x'", FORCED)],
  [granular(false, false), 'free', ESCALATED, unaskable('granular')],
  // Whatever the policy.
  ...(['on-request', 'untrusted', granular(true, true)] as const).map(
    (policy): Row => [policy, 'free; never ever', ESCALATED, rejected("'free; never ever'", 'use kept instead')],
  ),
  ...(['never', 'on-request', 'untrusted', granular(true, true)] as const).flatMap((policy): Row[] => [
    [policy, 'never', {}, rejected('never', 'policy forbids commands starting with `never`')],
    [policy, 'never ever x', {}, rejected("'never ever x'", 'use kept instead')],
    [policy, 'never', { ...DISABLED }, rejected('never', 'policy forbids commands starting with `never`')],
  ]),
]

describe('under the approval policy', () => {
  const policy = policyOf(RULES)
  for (const [approvalPolicy, script, rest, expected] of ROWS) {
    const name = typeof approvalPolicy === 'string' ? approvalPolicy : JSON.stringify(approvalPolicy.granular)
    test(`${name}, \`${script}\` ${JSON.stringify(rest)} needs: ${expected}`, async () => {
      const requirement = await policy.judge(call(script, { approvalPolicy, ...rest }))
      assert.equal(shown(requirement), expected)
      assert.ok(requirement.why.length > 0)
    })
  }
})

function shown(requirement: Awaited<ReturnType<ReturnType<typeof policyOf>['judge']>>): string {
  switch (requirement.kind) {
    case 'skip':
      return requirement.bypassSandbox ? 'skip, outside' : 'skip'
    case 'ask':
      return requirement.reason === undefined ? 'ask' : `ask: ${requirement.reason}`
    case 'forbidden':
      return `forbidden: ${requirement.reason}`
  }
}
