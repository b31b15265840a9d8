import type { Why } from '../../orchestrator/requirement.ts'
import { shownCommand } from '../../script/shown-command.ts'
import { amendmentProblem, amendmentText } from '../amendment.ts'
import { keptByRedirect, type RuleMatch } from '../rules/prefix-match.ts'
import { type Decision, shownOrigin } from '../rules/rule.ts'
import type { JudgedPart } from './judged-part.ts'

const MAX_LINES = 20

/** One line for each thing that had a say in it, and what would have led elsewhere. */
export function whyOf(parts: readonly JudgedPart[], decision: Decision): readonly Why[] {
  const lines = new Map<string, Why>()
  let isCut = false
  for (const part of parts) {
    if (part.decision !== decision) continue
    for (const why of linesOf(part, decision)) {
      const key = `${why.origin ?? ''}\n${why.text}`
      if (lines.has(key)) continue
      if (lines.size === MAX_LINES) isCut = true
      else lines.set(key, why)
    }
    if (isCut) break
  }
  const rest: Why = { source: 'approval-policy', text: `… and more: only the first ${MAX_LINES} reasons are told` }
  return isCut ? [...lines.values(), rest] : [...lines.values()]
}

function* linesOf(part: JudgedPart, decision: Decision): Generator<Why> {
  for (const match of part.matches) if (match.rule.decision === decision) yield ofRule(match)
  const { heuristic } = part
  if (heuristic?.decision !== decision) return
  const text = `\`${shownCommand(part.segment.words)}\`: ${heuristic.text}`
  const otherwise = alternative(part)
  yield { source: heuristic.source, text, ...(otherwise !== undefined && { otherwise }) }
}

function ofRule(match: RuleMatch): Why {
  const { rule, matchedPrefix, resolvedProgram } = match
  const prefix = `\`${shownCommand(matchedPrefix)}\``
  const resolved = resolvedProgram === undefined ? '' : ` (here ${shownCommand([resolvedProgram])})`
  const because = rule.justification === undefined ? '' : `: ${rule.justification}`
  const origin = shownOrigin(rule.origin)
  const says = { allow: 'allows', prompt: 'wants to be asked about', forbidden: 'forbids' }[rule.decision]
  const inside = match.kept ? `, this one inside the sandbox only${whyKept(match)}` : ''
  const text = `a rule ${says} commands that begin with ${prefix}${resolved}${because}${inside}`
  return { source: 'rule', text, origin, otherwise: withoutRule(match) }
}

function whyKept({ kept }: RuleMatch): string {
  return kept ? `: ${kept.because}` : ''
}

function withoutRule({ rule, bypassesSandbox, kept }: RuleMatch): string {
  if (rule.decision !== 'allow') return 'no other rule can relax it: change it where it is written'
  if (bypassesSandbox) return 'with sandbox="keep" it would run inside the sandbox'
  return kept?.otherwise ?? 'with sandbox="bypass" it would run outside of the sandbox'
}

/** What would have decided otherwise: a rule that nearly did, or one that could be written. */
function alternative(part: JudgedPart): string | undefined {
  const [miss] = part.misses
  if (miss) return `the rule at ${shownOrigin(miss.rule.origin)} does not allow it: ${miss.because}`
  const { heuristic, matches } = part
  if (heuristic?.source === 'sandbox-permissions') {
    const keeping = matches.find((match) => !match.bypassesSandbox)
    if (keeping)
      return `the rule at ${shownOrigin(keeping.rule.origin)} allows it inside the sandbox only${whyKept(keeping)}`
    const kept = keptByRedirect(part.segment)
    if (kept) return `inside the sandbox nobody would be asked; no rule lets it out: ${kept.because}`
    return 'inside the sandbox nobody would be asked, nor with a rule for it that says sandbox="bypass"'
  }
  if (heuristic?.decision === 'allow' || part.role === 'within') return undefined
  const amendment = { prefix: part.segment.words }
  return amendmentProblem(amendment) === undefined ? `with ${amendmentText(amendment)} it would be allowed` : undefined
}
