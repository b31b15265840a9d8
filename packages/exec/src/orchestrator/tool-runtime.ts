import type { SandboxDenial, SandboxRequest } from '@waldo/protocol'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { ApprovalSubject } from '../approvals/approver.ts'
import type { Requirement } from './requirement.ts'

/** Which call it is, for events and questions. */
export interface CallIdentity {
  readonly tool: string
  readonly callId: string
  readonly turnId: string
  readonly environmentId: string
}

/** How something is tried. */
export interface Attempt {
  readonly number: 1 | 2
  /**
   * What the executor is asked to enforce; undefined if nothing. Whether it can is for the executor to say: what it
   * cannot enforce it refuses, and a refusal is never answered by running without.
   */
  readonly sandbox: SandboxRequest | undefined
  /** It was allowed to run outside: a managed network is left behind, too. */
  readonly isBypass: boolean
  /** Ends the waiting. What was started goes on. */
  readonly signal: AbortSignal
}

/** What a sandbox refused. The executor says so; what a command prints says nothing. */
export interface Denial {
  readonly denials: readonly SandboxDenial[]
  /** A request to somewhere that was refused, in words. It was decided by somebody: no retry changes that. */
  readonly network?: string
}

export interface AttemptResult<T> {
  readonly value: T
  readonly denial?: Denial
}

/** Something that can be run under approval and in a sandbox. The orchestrator knows no more than this of it. */
export interface ToolRuntime<T> {
  readonly identity: CallIdentity
  readonly subject: ApprovalSubject
  /** What is asked about, for answers that hold longer. None: every question stands for itself. */
  readonly approvalKeys: readonly unknown[]
  requirement(): Promise<Requirement>
  /** Whether somebody may be asked, under this policy, to let it run outside after it was denied inside. */
  offersRetry(policy: ApprovalPolicy): boolean
  run(attempt: Attempt): Promise<AttemptResult<T>>
  /** The first attempt was denied and is tried again: nobody will ask for its value. */
  discard(value: T): Promise<void>
}
