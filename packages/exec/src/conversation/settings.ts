import type { ManagedNetwork } from '@waldo/environment'
import type { ProcessLimits } from '@waldo/protocol'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { TruncationPolicy } from '../output/truncation-policy.ts'
import type { PermissionProfile } from '../permissions/sandbox-requests.ts'
import type { ShellEnvironmentPolicy } from '../unified-exec/child-environment.ts'

/** What holds for the calls of a turn. */
export interface Settings {
  readonly approvalPolicy: ApprovalPolicy
  readonly permissions: PermissionProfile
  /** If given, commands reach the network only through a proxy, which asks about what is not named here. */
  readonly network?: Omit<ManagedNetwork, 'decide' | 'onDecision' | 'enforce'> | undefined
  /** What of an environment's own variables commands get. */
  readonly shellEnvironment: ShellEnvironmentPolicy
  /** Whether commands run in login shells unless they say otherwise. */
  readonly allowLoginShell: boolean
  /** How much of an output the model can take. */
  readonly truncation: TruncationPolicy
  /** The longest wait of a call that only looks, or that says what it waits for. */
  readonly maxPollMs: number
  /** What each command and everything that it starts may use. */
  readonly limits?: Partial<ProcessLimits> | undefined
}

export const DEFAULT_SETTINGS: Settings = {
  approvalPolicy: 'on-request',
  permissions: 'workspace',
  shellEnvironment: {},
  allowLoginShell: true,
  truncation: { kind: 'tokens', limit: 10_000 },
  maxPollMs: 300_000,
}
