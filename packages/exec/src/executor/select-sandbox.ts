import type { SandboxRequest } from '@waldo/protocol'

/** `on-failure` asks only after a sandbox has denied something. */
export type ExecutorApprovalPolicy = 'untrusted' | 'on-failure' | 'on-request' | 'never'

export interface ShellSituation {
  readonly approvalPolicy: ExecutorApprovalPolicy
  /** What the profile asks for; undefined if it allows everything. */
  readonly sandbox: SandboxRequest | undefined
  /** Whether there is somebody who can enforce it. */
  readonly isEnforceable: boolean
  /** Why a person should see it first, if so. */
  readonly danger: string | undefined
  /** Somebody has allowed it for as long as this lasts. */
  readonly isApproved: boolean
  /** The model asks to run it without. */
  readonly wantsOut: boolean
}

export type SandboxSelection =
  | { readonly kind: 'reject'; readonly reason: string }
  /** Who says yes says yes to running without sandbox. */
  | { readonly kind: 'ask'; readonly reason?: string }
  | { readonly kind: 'run'; readonly sandbox: SandboxRequest | undefined; readonly escalatesOnFailure: boolean }

/** Where a command starts out. */
export function selectSandbox(situation: ShellSituation): SandboxSelection {
  const { approvalPolicy, sandbox, isEnforceable, danger, isApproved, wantsOut } = situation
  if (danger !== undefined && !isApproved) {
    if (approvalPolicy !== 'never') return { kind: 'ask', reason: danger }
    return { kind: 'reject', reason: 'dangerous command detected; rejected by user approval settings' }
  }
  if (isApproved) return bare()
  if (approvalPolicy === 'untrusted') return { kind: 'ask' }
  if (sandbox === undefined) return bare()
  if (approvalPolicy === 'on-request' && wantsOut) return { kind: 'ask' }
  if (isEnforceable) return { kind: 'run', sandbox, escalatesOnFailure: approvalPolicy === 'on-failure' }
  if (approvalPolicy !== 'never') return { kind: 'ask', reason: 'there is no sandbox here to run it in' }
  return { kind: 'reject', reason: 'auto-rejected because command is not on trusted list' }
}

function bare(): SandboxSelection {
  return { kind: 'run', sandbox: undefined, escalatesOnFailure: false }
}
