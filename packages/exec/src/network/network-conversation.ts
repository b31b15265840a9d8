import type { NetworkDecision, NetworkRequest, NetworkVerdict } from '@waldo/environment'
import { Approvals } from '../approvals/approvals.ts'
import type { ApprovalRequest } from '../approvals/approver.ts'
import { Pauses } from '../approvals/pauses.ts'
import { QueueApprover } from '../approvals/queue-approver.ts'
import type { ReviewDecision } from '../approvals/review-decision.ts'
import { EventHub } from '../events/event-hub.ts'
import type { ExecEvent } from '../events/exec-event.ts'
import { NetworkApprovals } from './network-approvals.ts'
import type { ExecutionNetwork, NetworkExecution, SaveNetworkRule } from './network-execution.ts'

const NEVER = new AbortController().signal
export const REQUEST: NetworkRequest = { protocol: 'https_connect', host: 'Example.test', port: 443 }
export const YES = { kind: 'approved' } as const
export const FOR_SESSION = { kind: 'approved_for_session' } as const
export const amendment = (action: 'allow' | 'deny', host = 'example.test') =>
  ({ kind: 'network_policy_amendment', host, action, scope: 'project' }) as const

/** A conversation for tests, which answer its questions one by one. */
export function networkConversation(saveRule: SaveNetworkRule = async () => {}) {
  const fail = (error: unknown) => {
    throw error
  }
  const happened: ExecEvent[] = []
  const events = new EventHub(fail)
  events.on((event) => happened.push(event))
  const queue = new QueueApprover(fail)
  const clock = { ms: 0 }
  const approvals = new Approvals({ approvers: [queue], events, pauses: new Pauses() })
  const network = new NetworkApprovals({ approvals, events, saveRule, failed: fail, now: () => clock.ms })
  const run = (more: Partial<NetworkExecution> = {}) =>
    network.forExecution({
      callId: 'call-1',
      turnId: 'turn-1',
      environmentId: 'local',
      command: ['curl', 'example.test'],
      approvalPolicy: 'on-request',
      sandbox: { kind: 'inside' },
      signal: NEVER,
      ...more,
    })
  const question = async (): Promise<ApprovalRequest> => {
    await settled()
    const [first] = queue.list()
    if (!first) throw new Error('nobody was asked')
    return first
  }
  return {
    run,
    queue,
    question,
    answer: async (decision: ReviewDecision) => queue.decide((await question()).id, decision),
    clock,
    decided: () => happened.flatMap((event) => (event.type === 'network_decided' ? [event] : [])),
    warnings: () => happened.flatMap((event) => (event.type === 'warning' ? [event.text] : [])),
  }
}

/** Everything that can happen by itself has happened. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 0))
export const decide = (execution: ExecutionNetwork, request = REQUEST, signal = NEVER): Promise<NetworkVerdict> =>
  Promise.resolve(execution.network.decide!(request, signal))
export const blocked = (more: Partial<NetworkDecision>): NetworkDecision => ({
  ...REQUEST,
  timestamp: '2026-01-01T00:00:00Z',
  decision: 'deny',
  scope: 'domain',
  source: 'baseline_policy',
  reason: 'denied',
  policyOverride: false,
  ...more,
})
