import type { AmendmentScope } from '../policy/command-policy.ts'
import type { ApprovalRequest, ApprovalSubject } from './approver.ts'
import type { ReviewDecision } from './review-decision.ts'

/** Something that can be said to a question with one key. */
export interface OfferedAnswer {
  readonly key: 'y' | 's' | 'p' | 'u' | 'n' | 'q'
  readonly label: string
  readonly decision: ReviewDecision
}

/** What makes sense as an answer, the one that reaches least far first. To say no, and to stop, always does. */
export function offeredAnswers(request: ApprovalRequest): readonly OfferedAnswer[] {
  const { decisions, subject } = request
  const { once, forConversation } = REACH[subject.kind]
  const project = lasting(request, 'project')
  const user = lasting(request, 'user')
  return [
    ...(decisions.includes('approved') ? [{ key: 'y', label: once, decision: APPROVED } as const] : []),
    ...(decisions.includes('approved_for_session')
      ? [{ key: 's', label: `yes, for this conversation: ${forConversation}`, decision: FOR_SESSION } as const]
      : []),
    ...(project ? [{ key: 'p', label: 'always in this project', decision: project } as const] : []),
    ...(user ? [{ key: 'u', label: 'always for me', decision: user } as const] : []),
    NO,
    STOP,
  ]
}

/** What the answers cover: whoever says yes to more than this once has to know to what. */
const REACH: Readonly<Record<ApprovalSubject['kind'], { readonly once: string; readonly forConversation: string }>> = {
  command: { once: 'yes, once', forConversation: 'the same command, here, with the same sandbox' },
  patch: { once: 'yes, once', forConversation: 'any change of this kind to these files' },
  network: { once: 'yes, once', forConversation: 'any command, to this host, port and protocol' },
  permissions: { once: 'yes, for this turn: any command', forConversation: 'any command' },
}
const APPROVED = { kind: 'approved' } as const
const FOR_SESSION = { kind: 'approved_for_session' } as const
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
