import type { Amendment } from '../../orchestrator/requirement.ts'
import { amendmentProblem } from '../amendment.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { type JudgedLine, type JudgedPart, judgeMatches } from './judged-part.ts'

export interface ProposalQuestion {
  readonly parts: readonly JudgedPart[]
  readonly rules: RuleSet
  readonly judged: JudgedLine
  readonly decision: 'allow' | 'prompt'
  /** What the model would like it to be. */
  readonly suggested: readonly string[] | undefined
}

/**
 * The rule that would make the question unnecessary from now on; undefined if no rule would, or none that may be saved.
 * Where something is allowed already, the question is the one about leaving the sandbox that denied it.
 */
export function proposedAmendment(question: ProposalQuestion): Amendment | undefined {
  const { parts, judged, decision, suggested } = question
  const { sandboxPermissions } = judged.call
  // Only a rule that lifts the sandbox altogether would answer it, and that was not asked for.
  if (sandboxPermissions === 'with_additional_permissions') return undefined
  // What is seen within something is not allowed by any rule.
  if (parts.some((part) => part.role === 'within' && part.decision !== undefined)) return undefined
  const isOutside = sandboxPermissions === 'require_escalated' || decision === 'allow'
  const run = parts.filter((part) => part.role !== 'within')
  const isUnruled = run.every((part) => part.matches.length === 0)
  if (suggested !== undefined && isUnruled) {
    const proposal = new Proposal(suggested, isOutside, question)
    if (proposal.isSaveable && proposal.silences(run)) return proposal.amendment
  }
  if (decision === 'allow' ? !isUnruled : run.some(isPromptedByRule)) return undefined
  const first = run.find((part) => part.heuristic?.decision === decision)
  if (!first) return undefined
  const proposal = new Proposal(first.segment.words, isOutside, question)
  return proposal.isSaveable && proposal.allows(first) ? proposal.amendment : undefined
}

class Proposal {
  readonly amendment: Amendment
  readonly #judged: JudgedLine
  readonly #only: RuleSet

  constructor(prefix: readonly string[], isOutside: boolean, { judged, rules }: ProposalQuestion) {
    this.amendment = isOutside ? { prefix, sandbox: 'bypass' } : { prefix }
    this.#judged = judged
    this.#only = rules.withOnly({
      kind: 'prefix',
      // What cannot be saved is never matched either.
      pattern: prefix.length === 0 ? [['']] : prefix.map((word) => [word]),
      decision: 'allow',
      sandbox: isOutside ? 'bypass' : 'keep',
      env: [],
      redirects: [],
      origin: { layer: 'proposed', file: 'proposed' },
    })
  }

  get isSaveable(): boolean {
    return amendmentProblem(this.amendment) === undefined
  }

  /** With it, everything is allowed, and some of it because of it. */
  silences(run: readonly JudgedPart[]): boolean {
    let isOfUse = false
    for (const part of run) {
      if (this.allows(part)) isOfUse = true
      else if (part.decision !== 'allow') return false
    }
    return isOfUse
  }

  /** Whether the rule, beside those that are there, allows this part: to save it and to be asked again annoys. */
  allows(part: JudgedPart): boolean {
    const { matches } = this.#only.match(part.segment)
    if (matches.length === 0) return false
    const after = judgeMatches(part, { matches: [...part.matches, ...matches], misses: [] }, this.#judged)
    return after.decision === 'allow' && (this.amendment.sandbox === undefined || after.bypassesSandbox)
  }
}

function isPromptedByRule(part: JudgedPart): boolean {
  return part.matches.some(({ rule }) => rule.decision === 'prompt')
}
