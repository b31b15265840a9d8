import { findDanger } from '../../script/dangerous.ts'
import type { CommandLine } from '../../script/segment.ts'
import type { NearMiss, RuleMatch } from '../rules/prefix-match.ts'
import { type Decision, strictest } from '../rules/rule.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { type Heuristic, heuristic, type JudgedCall, overrideHeuristic } from './heuristic.ts'
import type { Part } from './parts.ts'

export interface JudgedPart extends Part {
  readonly matches: readonly RuleMatch[]
  /** Rules that would have allowed it, but for something. */
  readonly misses: readonly NearMiss[]
  /** Why it is as it is where rules do not say, or do not say enough. */
  readonly heuristic?: Heuristic
  /** Undefined for what is seen within something else, and no rule is about. */
  readonly decision?: Decision
  readonly bypassesSandbox: boolean
}

export interface JudgedLine {
  readonly call: JudgedCall
  readonly line: CommandLine
}

export function judgePart(part: Part, rules: RuleSet, judged: JudgedLine): JudgedPart {
  const { matches, misses } = rules.match(part.segment)
  if (part.role !== 'within') return judgeMatches(part, { matches, misses }, judged)
  const restricting = matches.filter(({ rule }) => rule.decision !== 'allow')
  const decision = restricting.length > 0 ? { decision: strictest(decisionsOf(restricting)) } : {}
  return { ...part, matches: restricting, misses: [], ...decision, bypassesSandbox: false }
}

/** What these rules mean for a part that is run. */
export function judgeMatches(
  part: Part,
  { matches, misses }: { readonly matches: readonly RuleMatch[]; readonly misses: readonly NearMiss[] },
  { call, line }: JudgedLine,
): JudgedPart {
  const isAllowed = matches.some(({ rule }) => rule.decision === 'allow')
  // One rule that keeps it is enough: of several the strictest counts, in this as in everything.
  const bypassesSandbox = isAllowed && matches.every((match) => match.bypassesSandbox)
  const alone: CommandLine = part.role === 'script' ? line : { kind: 'plain', segments: [part.segment] }
  // Only a rule that allows it answers what would be asked without: else a rule that prompts could make things easier.
  const unanswered = bypassesSandbox
    ? undefined
    : isAllowed
      ? overrideHeuristic(call)
      : heuristic(call, findDanger(alone))
  const found = matches.length > 0 && unanswered?.decision === 'allow' ? undefined : unanswered
  const decision = strictest([...decisionsOf(matches), ...(found ? [found.decision] : [])])
  return { ...part, matches, misses, ...(found && { heuristic: found }), decision, bypassesSandbox }
}

function decisionsOf(matches: readonly RuleMatch[]): Decision[] {
  return matches.map(({ rule }) => rule.decision)
}
