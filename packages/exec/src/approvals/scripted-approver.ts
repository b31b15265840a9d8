import type { ApprovalRequest, Approver } from './approver.ts'
import type { DecisionSource, ReviewDecision } from './review-decision.ts'

export type ScriptedAnswer = ReviewDecision | ((request: ApprovalRequest) => ReviewDecision | undefined)

export interface ScriptedApprover extends Approver {
  /** What it was asked so far. */
  readonly asked: readonly ApprovalRequest[]
}

/** Gives these answers, one for each question. To be asked more often is an error, and so a no. */
export function scriptedApprover(
  answers: readonly ScriptedAnswer[],
  { source = 'user' }: { readonly source?: DecisionSource } = {},
): ScriptedApprover {
  const asked: ApprovalRequest[] = []
  return {
    source,
    asked,
    ask: async (request) => {
      const answer = answers[asked.length]
      asked.push(request)
      if (answer === undefined) {
        throw new Error(`the script has ${answers.length} answers, and this is question ${asked.length}`)
      }
      return typeof answer === 'function' ? answer(request) : answer
    },
  }
}
