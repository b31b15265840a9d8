import type { ApprovalRequest, Approver } from './approver.ts'
import type { DecisionSource, ReviewDecision } from './review-decision.ts'

type Answer = ReviewDecision | undefined

/** A function that decides. `source` says for whom it speaks: a person, if nothing is said. */
export function callbackApprover(
  decide: (request: ApprovalRequest, signal: AbortSignal) => Answer | Promise<Answer>,
  { source = 'user' }: { readonly source?: DecisionSource } = {},
): Approver {
  return { source, ask: async (request, signal) => decide(request, signal) }
}
