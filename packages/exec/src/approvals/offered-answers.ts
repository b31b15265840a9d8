import type { AmendmentScope } from '../policy/command-policy.ts'
import type { ApprovalRequest } from './approver.ts'
import type { ReviewDecision } from './review-decision.ts'

/** Something that can be said to a question with one key. */
export interface OfferedAnswer {
  readonly key: 'y' | 's' | 'p' | 'u' | 'n' | 'q'
  readonly label: string
  readonly decision: ReviewDecision
}

/** What makes sense as an answer, the one that reaches least far first. To say no, and to stop, always does. */
export function offeredAnswers(request: ApprovalRequest): readonly OfferedAnswer[] {
  const { decisions } = request
  const project = lasting(request, 'project')
  const user = lasting(request, 'user')
  return [
    ...(decisions.includes('approved') ? [YES] : []),
    ...(decisions.includes('approved_for_session') ? [FOR_SESSION] : []),
    ...(project ? [{ key: 'p', label: 'always in this project', decision: project } as const] : []),
    ...(user ? [{ key: 'u', label: 'always for me', decision: user } as const] : []),
    NO,
    STOP,
  ]
}

const YES: OfferedAnswer = { key: 'y', label: 'yes, once', decision: { kind: 'approved' } }
const FOR_SESSION: OfferedAnswer = {
  key: 's',
  label: 'yes, for this conversation',
  decision: { kind: 'approved_for_session' },
}
const NO: OfferedAnswer = { key: 'n', label: 'no', decision: { kind: 'denied' } }
const STOP: OfferedAnswer = { key: 'q', label: 'no, and stop the turn', decision: { kind: 'abort' } }

function lasting(
  { subject, amendment, decisions }: ApprovalRequest,
  scope: AmendmentScope,
): ReviewDecision | undefined {
  if (amendment && decisions.includes('approved_execpolicy_amendment')) {
    return { kind: 'approved_execpolicy_amendment', amendment, scope }
  }
  if (subject.kind === 'network' && decisions.includes('network_policy_amendment')) {
    return { kind: 'network_policy_amendment', host: subject.host, action: 'allow', scope }
  }
  return undefined
}
