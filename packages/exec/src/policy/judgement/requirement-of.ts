import type { ApprovalPolicy } from '../../approvals/approval-policy.ts'
import type { Amendment, Requirement, Why } from '../../orchestrator/requirement.ts'
import { shownCommand } from '../../script/shown-command.ts'
import type { RuleMatch } from '../rules/prefix-match.ts'
import type { Decision } from '../rules/rule.ts'
import type { JudgedPart } from './judged-part.ts'

export interface Judged {
  readonly argv: readonly string[]
  readonly approvalPolicy: ApprovalPolicy
  readonly parts: readonly JudgedPart[]
  readonly decision: Decision
  readonly amendment: Amendment | undefined
  readonly why: readonly Why[]
}

/** What has to happen before it may run. The texts are for the model, which goes on by them. */
export function requirementOf(judged: Judged): Requirement {
  const { parts, decision, why } = judged
  const amendment = judged.amendment && { amendment: judged.amendment }
  switch (decision) {
    case 'forbidden':
      return { kind: 'forbidden', reason: forbiddenReason(judged), why }
    case 'prompt': {
      const refused = unpromptable(judged)
      if (refused !== undefined) return { kind: 'forbidden', reason: refused, why: [...why, nobodyToAsk(refused)] }
      const reason = promptReason(judged)
      return { kind: 'ask', ...(reason !== undefined && { reason }), ...amendment, why }
    }
    case 'allow': {
      const bypassSandbox = parts.every((part) => part.role === 'within' || part.bypassesSandbox)
      return { kind: 'skip', bypassSandbox, ...amendment, why }
    }
  }
}

function forbiddenReason(judged: Judged): string {
  const command = `\`${shownCommand(judged.argv)}\` rejected: `
  const match = mostSpecific(judged.parts, 'forbidden')
  if (match) {
    const prefix = shownCommand(match.matchedPrefix)
    return command + (match.rule.justification ?? `policy forbids commands starting with \`${prefix}\``)
  }
  return dangerReason(judged) ?? `${command}blocked by policy`
}

/**
 * Why nobody can be asked, if nobody can: what needs a question is refused then, never done. Where there are questions of
 * both kinds, both must be allowed: an answer is one to all of them.
 */
function unpromptable(judged: Judged): string | undefined {
  const { approvalPolicy, parts } = judged
  if (approvalPolicy === 'never') return 'approval required by policy, but AskForApproval is set to Never'
  if (typeof approvalPolicy === 'string') return undefined
  const { rules, sandboxApproval } = approvalPolicy.granular
  if (!rules && mostSpecific(parts, 'prompt')) {
    return 'approval required by policy rule, but AskForApproval::Granular.rules is false'
  }
  return sandboxApproval ? undefined : dangerReason(judged)
}

function nobodyToAsk(text: string): Why {
  return {
    source: 'approval-policy',
    text,
    otherwise: 'under an approval policy that may ask, somebody would be asked',
  }
}

function dangerReason({ argv, parts }: Judged): string | undefined {
  const dangerous = parts.find(({ heuristic }) => heuristic?.danger !== undefined)?.heuristic
  if (!dangerous) return undefined
  const forced = 'rm -f style commands are not permitted. Use a safer approach'
  return `\`${shownCommand(argv)}\` rejected: ${dangerous.danger === 'removal' ? forced : dangerous.text}`
}

/** Only what a rule says: everything else is told by `why`. */
function promptReason({ argv, parts }: Judged): string | undefined {
  const match = mostSpecific(parts, 'prompt')
  if (!match) return undefined
  const command = `\`${shownCommand(argv)}\` requires approval`
  return match.rule.justification === undefined ? `${command} by policy` : `${command}: ${match.rule.justification}`
}

/** Of the rules that decide so, the one with the longest prefix. */
function mostSpecific(parts: readonly JudgedPart[], decision: Decision): RuleMatch | undefined {
  let longest: RuleMatch | undefined
  for (const { matches } of parts) {
    for (const match of matches) {
      if (match.rule.decision !== decision) continue
      if (!longest || match.matchedPrefix.length > longest.matchedPrefix.length) longest = match
    }
  }
  return longest
}
