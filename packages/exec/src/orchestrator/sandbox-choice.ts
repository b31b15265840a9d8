import type { Permissions, SandboxRequest } from '@waldo/protocol'
import type { SandboxOutlook } from '../approvals/approver.ts'
import type { CallPermissions } from '../permissions/call-permissions.ts'
import {
  allButDenials,
  deniedPaths,
  needsSandbox,
  type SandboxPlace,
  sandboxRequest,
  widened,
} from '../permissions/sandbox-requests.ts'

export interface SandboxSituation {
  readonly permissions: Permissions
  readonly place: SandboxPlace
  readonly call: CallPermissions
  readonly hasManagedNetwork: boolean
}

/**
 * Two facts that must not be mixed up: what was intended, and what the executor is asked for. "None because it was
 * allowed to" and "none because the profile asks for none" look the same on the wire and mean the opposite.
 */
export interface SandboxChoice {
  readonly intent: 'confined' | 'unconfined-profile' | 'bypass' | 'bypass-but-denials'
  readonly request: SandboxRequest | undefined
}

/** As the profile says, with what the call may do beyond it. */
export function confinedChoice({ permissions, place, call, hasManagedNetwork }: SandboxSituation): SandboxChoice {
  if (!needsSandbox(permissions, hasManagedNetwork)) return { intent: 'unconfined-profile', request: undefined }
  const wider = call.additional ? widened(permissions, call.additional) : permissions
  return { intent: 'confined', request: sandboxRequest(wider, place) }
}

/** Outside; or as far outside as there is, where something must not be read. */
export function bypassChoice({ permissions, place }: SandboxSituation): SandboxChoice {
  if (deniedPaths(permissions).length === 0) return { intent: 'bypass', request: undefined }
  const request = sandboxRequest(allButDenials(permissions), place)
  return {
    intent: 'bypass-but-denials',
    request: { ...request, sandboxOverride: 'escalatedSandboxWithRestrictions' },
  }
}

/** What whoever is asked is told about it. */
export function outlook(choice: SandboxChoice, { permissions, call }: SandboxSituation): SandboxOutlook {
  switch (choice.intent) {
    case 'bypass-but-denials':
      return { kind: 'outside-but-denials', denied: deniedPaths(permissions) }
    case 'bypass':
    case 'unconfined-profile':
      return { kind: 'outside' }
    case 'confined':
      return call.additional ? { kind: 'widened', permissions: call.additional } : { kind: 'inside' }
  }
}
