import {
  amendmentText,
  type Explanation,
  type JudgedPart,
  offersRetryOfCommands,
  type Requirement,
  shownOrigin,
  shownRedirect,
} from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { columns } from './columns.ts'
import { describeCheck } from './describe-check.ts'
import { CALL_FLAGS, callSettings, policyOf, SHELL } from './judged-call.ts'
import { RULE_FLAGS, readRuleSource } from './rule-source.ts'

const EXIT_CODES = { allow: 0, ask: 10, forbidden: 20 } as const

/** What would happen to a command, for programs and for people. */
export interface Check {
  readonly decision: keyof typeof EXIT_CODES
  /** Where it would run, once it may; null if it may not. */
  readonly sandbox: 'inside' | 'outside' | 'none' | null
  readonly argv: readonly string[]
  /** Said by a rule, or why it is forbidden. */
  readonly reason: string | null
  /** Why the command line is judged as a whole, if it cannot be seen through. */
  readonly opaque: string | null
  readonly segments: readonly CheckedSegment[]
  readonly why: Requirement['why']
  /** The rule that would be offered with the question; null if there is no question, or no rule for it. */
  readonly proposedRule: string | null
}

export interface CheckedSegment {
  readonly role: JudgedPart['role']
  readonly words: readonly string[]
  readonly env: readonly string[]
  readonly redirects: readonly string[]
  readonly decision: keyof typeof EXIT_CODES
  readonly rules: readonly { readonly origin: string; readonly decision: string; readonly bypassesSandbox: boolean }[]
  /** Rules that would have allowed it, but for something. */
  readonly misses: readonly { readonly origin: string; readonly because: string }[]
  /** What decided where no rule did. */
  readonly otherwise: string | null
}

/** Says what would happen to a command. Runs nothing. Undefined: it is help that is wanted, by an option before the command. */
export async function checkCommand(args: string[], help: string): Promise<number | undefined> {
  const { flags, rest } = parseCommand(args, {
    flags: { ...RULE_FLAGS, ...CALL_FLAGS, json: 'switch', escalated: 'switch', script: 'text', help: 'switch' },
    letters: { c: 'script' },
    commandFollows: true,
    help,
  })
  if (flags.help) return undefined
  const argv = argvOf(flags.script, rest, help)
  const settings = callSettings(flags, help)
  const { layers } = await readRuleSource(flags, help)
  const sandboxPermissions = flags.escalated ? 'require_escalated' : 'use_default'
  const command = { ...settings, argv, sandboxPermissions } as const
  const explanation = await policyOf(layers).explain(command)
  const isOutside =
    flags.escalated || (explanation.requirement.kind === 'skip' && explanation.requirement.bypassSandbox)
  const sandbox = settings.permissions.type === 'disabled' ? 'none' : isOutside ? 'outside' : 'inside'
  const check = checkOf(explanation, { argv, sandbox, mayRetry: offersRetryOfCommands(settings.approvalPolicy) })
  print(flags.json ? JSON.stringify(check) : describeCheck(check, columns()))
  return EXIT_CODES[check.decision]
}

function argvOf(script: string | undefined, rest: string[] | undefined, help: string): readonly string[] {
  const words = rest ?? []
  if (script !== undefined && words.length > 0) {
    throw new UsageError(`check: -c has the whole script, and \`${words[0]}\` comes after it`, help)
  }
  if (script !== undefined) return [SHELL, '-lc', script]
  if (words.length > 0) return words
  throw new UsageError('check: no command to judge', 'for example: waldo policy check -- git push')
}

function checkOf(
  { requirement, line, segments }: Explanation,
  known: Pick<Check, 'argv'> & { readonly sandbox: NonNullable<Check['sandbox']>; readonly mayRetry: boolean },
): Check {
  const { argv, sandbox, mayRetry } = known
  const decision = requirement.kind === 'skip' ? 'allow' : requirement.kind
  // What is allowed is asked about only after the sandbox has denied it.
  const asks = decision === 'ask' || (decision === 'allow' && sandbox === 'inside' && mayRetry)
  const amendment = asks && 'amendment' in requirement ? requirement.amendment : undefined
  return {
    decision,
    sandbox: decision === 'forbidden' ? null : sandbox,
    argv,
    reason: ('reason' in requirement ? requirement.reason : undefined) ?? null,
    opaque: line.kind === 'opaque' ? line.why : null,
    segments: segments.flatMap(segmentOf),
    why: requirement.why,
    proposedRule: amendment ? amendmentText(amendment) : null,
  }
}

/** Nothing of what is only seen within something else, unless a rule speaks of it. */
function segmentOf({ role, segment, decision, matches, misses, heuristic }: JudgedPart): CheckedSegment[] {
  if (decision === undefined) return []
  return [
    {
      role,
      words: segment.words,
      env: segment.assignments.map(({ name, value }) => `${name}=${value}`),
      redirects: segment.redirects.map(shownRedirect),
      decision: decision === 'prompt' ? 'ask' : decision,
      rules: matches.map(({ rule, bypassesSandbox }) => {
        return { origin: shownOrigin(rule.origin), decision: rule.decision, bypassesSandbox }
      }),
      misses: misses.map(({ rule, because }) => ({ origin: shownOrigin(rule.origin), because })),
      otherwise: heuristic?.text ?? null,
    },
  ]
}
