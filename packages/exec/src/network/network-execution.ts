import type { ManagedNetwork, NetworkRequest } from '@waldo/environment'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { SandboxOutlook } from '../approvals/approver.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { AmendmentScope } from '../policy/command-policy.ts'
import type { NetworkDenial } from './network-denial.ts'
import type { NetworkVerdicts } from './network-verdicts.ts'

/** Resolves when the rule is saved; throws if it could not be. */
export type SaveNetworkRule = (
  host: string,
  protocol: NetworkRequest['protocol'],
  action: 'allow' | 'deny',
  scope: AmendmentScope,
) => Promise<void>

/** What all executions of a conversation share. */
export interface NetworkServices {
  readonly approvals: Approvals
  readonly events: EventHub
  readonly verdicts: NetworkVerdicts
  readonly saveRule: SaveNetworkRule
  /** Hears of listeners to denials that throw. */
  readonly failed?: ((error: unknown) => void) | undefined
  /** Milliseconds. */
  readonly now: () => number
}

/** One attempt of a command, with the network that its rules give it. */
export interface NetworkExecution extends Omit<ManagedNetwork, 'decide' | 'onDecision'> {
  readonly callId: string
  readonly turnId: string
  readonly environmentId: string
  /** Who wants to get out. */
  readonly command: readonly string[]
  readonly approvalPolicy: ApprovalPolicy
  /** Of the command. */
  readonly sandbox: SandboxOutlook
  /** When it aborts nobody can be asked any more. */
  readonly signal: AbortSignal
}

export interface ExecutionNetwork {
  /** To start the process with. */
  readonly network: ManagedNetwork
  /** Why the command must not go on, if it must not. */
  denial(): string | undefined
  /** Told when `denial()` changes, and at once if there is one. Returns how to stop that. */
  onDenied(listener: (denial: NetworkDenial) => void): () => void
}
