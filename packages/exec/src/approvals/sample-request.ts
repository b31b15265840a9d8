import { fromPosixPath } from '@waldo/protocol'
import type { ApprovalRequest, ApprovalSubject } from './approver.ts'

/** A question for tests: `npm test`, outside of the sandbox, with everything that can be said about it. */
export function sampleRequest(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    id: 'request-1',
    callId: 'call-1',
    turnId: 'turn-1',
    environmentId: 'local',
    askedAt: new Date(0),
    subject: commandSubject(['npm', 'test']),
    sandbox: { kind: 'outside' },
    why: [],
    isRetry: false,
    decisions: ['approved', 'approved_for_session', 'denied', 'abort'],
    ...more,
  }
}

export function commandSubject(argv: readonly string[], { tty = false } = {}): ApprovalSubject {
  return { kind: 'command', argv, cwd: fromPosixPath('/home/me/project'), tty }
}
