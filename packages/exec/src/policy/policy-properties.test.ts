import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { Requirement } from '../orchestrator/requirement.ts'
import type { SandboxPermissions } from '../permissions/sandbox-permissions.ts'
import { needsSandbox } from '../permissions/sandbox-requests.ts'
import type { CommandToJudge } from './command-policy.ts'
import { call, layer, policyOf, RESTRICTED, UNRESTRICTED } from './fixtures/sample-policy.ts'
import type { RulePolicy } from './rule-policy.ts'

interface WrittenRule {
  readonly pattern: readonly (readonly string[])[]
  readonly decision: 'allow' | 'prompt' | 'forbidden'
  readonly sandbox: 'keep' | 'bypass'
  readonly redirects: readonly string[]
}

const WORDS = ['a', 'b', '/bin/a', './b', '-x']
const word = fc.constantFrom(...WORDS)
const rule: fc.Arbitrary<WrittenRule> = fc.record({
  pattern: fc.array(fc.uniqueArray(word, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  decision: fc.constantFrom('allow', 'allow', 'allow', 'prompt', 'forbidden'),
  sandbox: fc.constantFrom('keep', 'bypass'),
  redirects: fc.constantFrom([], ['> log'], ['> *']),
})
const restriction = rule.map((each) => ({
  ...each,
  decision: each.decision === 'allow' ? ('prompt' as const) : each.decision,
}))

/** A word that begins with a dash is no program: nobody could tell what a shell makes of it. */
const program = fc.constantFrom('a', 'b', 'c', '/bin/a', '/ws/a', './b')
const command = fc
  .tuple(program, fc.array(fc.oneof(word, fc.constant('c')), { maxLength: 3 }))
  .map(([first, rest]) => [first, ...rest])
const script = fc
  .tuple(
    fc.array(fc.tuple(command, fc.constantFrom('', ' > log', ' 2>&1')), { minLength: 1, maxLength: 4 }),
    fc.constantFrom(' && ', ' | ', '; '),
    fc.constantFrom(
      (text: string) => text,
      (text: string) => `(${text})`,
      (text: string) => `X=1 ${text}`,
      (text: string) => `env ${text}`,
    ),
  )
  .map(([commands, separator, wrap]) => wrap(commands.map(([words, rest]) => words.join(' ') + rest).join(separator)))
const approvalPolicy: fc.Arbitrary<ApprovalPolicy> = fc.oneof(
  fc.constantFrom<ApprovalPolicy>('never', 'on-request', 'untrusted'),
  fc.record({
    granular: fc.record({ sandboxApproval: fc.boolean(), rules: fc.boolean(), requestPermissions: fc.boolean() }),
  }),
)
const toJudge: fc.Arbitrary<CommandToJudge> = fc
  .tuple(
    script,
    approvalPolicy,
    fc.constantFrom(RESTRICTED, UNRESTRICTED, { ...UNRESTRICTED, network: 'restricted' } as const),
    fc.boolean(),
    fc.constantFrom<SandboxPermissions>('use_default', 'require_escalated', 'with_additional_permissions'),
  )
  .map(([text, policy, permissions, hasManagedNetwork, sandboxPermissions]) => {
    return call(text, { approvalPolicy: policy, permissions, hasManagedNetwork, sandboxPermissions })
  })

function written({ pattern, decision, sandbox, redirects }: WrittenRule): string {
  const extra = decision === 'allow' ? `, sandbox="${sandbox}", redirects=${JSON.stringify(redirects)}` : ''
  return `prefix_rule(${JSON.stringify(pattern)}, "${decision}"${extra})`
}

/** Each rule is in one of three layers. */
function policyWith(
  rules: readonly WrittenRule[],
  names: readonly string[] = ['system', 'user', 'project'],
): RulePolicy {
  return policyOf(
    names.map((name, at) =>
      layer(
        name,
        rules
          .filter((_, i) => i % names.length === at)
          .map(written)
          .join('\n'),
      ),
    ),
  )
}

/** The stricter, the higher. */
function strictness(requirement: Requirement): number {
  if (requirement.kind === 'skip') return requirement.bypassSandbox ? 0 : 1
  return requirement.kind === 'ask' ? 2 : 3
}

test('the order of rules and layers means nothing', async () => {
  const shuffled = fc.array(rule, { maxLength: 8 }).chain((rules) => {
    return fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length }))
  })
  await fc.assert(
    fc.asyncProperty(shuffled, toJudge, async ([rules, others], given) => {
      const one = await policyWith(rules).judge(given)
      const other = await policyWith(others, ['project', 'system']).judge(given)
      assert.equal(strictness(one), strictness(other))
    }),
    { numRuns: 500 },
  )
})

test('a layer that only restricts never makes anything easier', async () => {
  const added = fc.oneof(
    restriction.map(written),
    fc.constant('host_executable("a", ["/bin/a"])'),
    fc.constant('host_executable("b", [])'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 6 }), added, toJudge, async (rules, text, given) => {
      const before = rules.map(written).join('\n')
      const was = strictness(await policyOf(before).judge(given))
      const is = strictness(
        await policyOf([layer('user', before), layer('managed', text, { restrictsOnly: true })]).judge(given),
      )
      assert.ok(is >= was, `${was} → ${is}`)
    }),
    { numRuns: 500 },
  )
})

test('the checker says what happens when it runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 8 }), toJudge, async (rules, given) => {
      const policy = policyWith(rules)
      const { requirement, why } = await policy.explain(given)
      assert.deepEqual(requirement, await policy.judge(given))
      assert.deepEqual(why, requirement.why)
      assert.ok(why.length > 0)
    }),
    { numRuns: 500 },
  )
})

test('nothing runs outside that some rule does not let out, and nothing is asked where nobody may be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 8 }), toJudge, async (rules, given) => {
      const requirement = await policyWith(rules).judge(given)
      const lets = rules.some(({ decision, sandbox }) => decision === 'allow' && sandbox === 'bypass')
      if (requirement.kind === 'skip' && requirement.bypassSandbox) assert.ok(lets)
      if (given.approvalPolicy === 'never') assert.notEqual(requirement.kind, 'ask')
      const isConfined = needsSandbox(given.permissions, given.hasManagedNetwork)
      const wantsOut = given.sandboxPermissions !== 'use_default' && isConfined
      if (wantsOut && requirement.kind === 'skip') assert.ok(requirement.bypassSandbox)
      if (requirement.kind === 'skip' && requirement.bypassSandbox) assert.ok(!given.argv[2]!.includes('> log'))
    }),
    { numRuns: 500 },
  )
})

test('rules hold for plain commands as they do in the simplest reading of them', async () => {
  const commands = fc.array(command, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 8 }), commands, async (rules, lines) => {
      const given = call(lines.map((words) => words.join(' ')).join(' && '), { approvalPolicy: 'untrusted' })
      assert.equal(strictness(await policyWith(rules).judge(given)), simplest(rules, lines))
    }),
    { numRuns: 1000 },
  )
})

function simplest(rules: readonly WrittenRule[], lines: readonly (readonly string[])[]): number {
  const begins = (pattern: WrittenRule['pattern'], words: readonly string[]) =>
    pattern.every((allowed, i) => words[i] !== undefined && allowed.includes(words[i]))
  // Options, each perhaps with a value, may come before what is restricted.
  const follows = (pattern: WrittenRule['pattern'], words: readonly string[]): boolean =>
    begins(pattern, words) ||
    (words[0]?.startsWith('-') === true && (follows(pattern, words.slice(1)) || follows(pattern, words.slice(2))))
  const fits = ({ pattern, decision }: WrittenRule, words: readonly string[]) =>
    begins(pattern, words) ||
    (decision !== 'allow' && begins(pattern.slice(0, 1), words) && follows(pattern.slice(1), words.slice(1)))
  return Math.max(
    ...lines.map((words) => {
      const named = [words[0]!.replace(/.*\//, ''), ...words.slice(1)]
      const exact = rules.filter((each) => fits(each, words))
      const byName = words[0]!.includes('/') ? rules.filter((each) => fits(each, named)) : []
      const restrictions = [...exact, ...byName].map(
        ({ decision }) => ({ allow: 0, prompt: 2, forbidden: 3 })[decision],
      )
      const strictest = Math.max(0, ...restrictions)
      if (strictest > 0) return strictest
      if (exact.length > 0) return exact.every(({ sandbox }) => sandbox === 'bypass') ? 0 : 1
      return byName.length > 0 && words[0]!.startsWith('/bin/') ? 1 : 2
    }),
  )
}
