import { mayAskForSandbox, sandboxRefusal } from '../../approvals/approval-policy.ts'
import type { Requirement } from '../../orchestrator/requirement.ts'
import type { JudgedCall } from './heuristic.ts'

/**
 * What becomes of a call that asks to leave or to widen its sandbox where nobody may be asked for that: it is refused,
 * whatever the rules say. Undefined for all others.
 */
export function unaskable({ approvalPolicy, sandboxPermissions }: JudgedCall): Requirement | undefined {
  if (sandboxPermissions === 'use_default' || mayAskForSandbox(approvalPolicy)) return undefined
  const reason = sandboxRefusal(approvalPolicy)
  const otherwise = 'without asking for it (use_default) the rules decide'
  return { kind: 'forbidden', reason, why: [{ source: 'approval-policy', text: reason, otherwise }] }
}
