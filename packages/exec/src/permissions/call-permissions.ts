import type { PathUri, Permissions } from '@waldo/protocol'
import { type ApprovalPolicy, mayAskForSandbox, policyName } from '../approvals/approval-policy.ts'
import {
  type AdditionalPermissions,
  type RequestedPermissions,
  resolvePermissions,
  unitePermissions,
} from './additional-permissions.ts'
import type { GrantedPermissions } from './granted-permissions.ts'
import type { SandboxPermissions } from './sandbox-permissions.ts'
import { isDenied, type SandboxPlace } from './sandbox-requests.ts'

/** A call that cannot be answered as it stands. The text is for the model. */
export class InvalidCall extends Error {
  override readonly name = 'InvalidCall'
}

export interface PermissionArguments {
  readonly sandbox_permissions?: SandboxPermissions | undefined
  readonly justification?: string | undefined
  readonly additional_permissions?: RequestedPermissions | undefined
}

/** What one call may do beyond the profile, and whether somebody has to be asked about it. */
export interface CallPermissions {
  readonly requested: SandboxPermissions
  /** What it runs with: what was granted before and what is asked for now. */
  readonly additional?: AdditionalPermissions
  /** Nothing is asked for that was not granted before. */
  readonly isPreApproved: boolean
  readonly justification?: string
}

interface CallContext {
  readonly cwd: PathUri
  readonly environmentId: string
  readonly approvalPolicy: ApprovalPolicy
  readonly permissions: Permissions
  readonly place: SandboxPlace
  readonly granted: GrantedPermissions
}

/** Throws an `InvalidCall` for what contradicts itself, and for what nobody may be asked about. */
export function callPermissions(args: PermissionArguments, context: CallContext): CallPermissions {
  const requested = args.sandbox_permissions ?? 'use_default'
  const { justification } = args
  if (justification !== undefined && args.sandbox_permissions === undefined) {
    throw new InvalidCall(
      '`justification` requires an explicit `sandbox_permissions`; set it to `require_escalated` or ' +
        '`with_additional_permissions`, or omit the justification',
    )
  }
  const told = justification === undefined ? {} : { justification }
  if (requested === 'with_additional_permissions') return { ...additional(args, context), requested, ...told }
  if (args.additional_permissions !== undefined) {
    throw new InvalidCall(
      '`additional_permissions` requires `sandbox_permissions` set to `with_additional_permissions`',
    )
  }
  if (requested === 'require_escalated') {
    requireAsking(context.approvalPolicy)
    return { requested, isPreApproved: false, ...told }
  }
  const granted = context.granted.of(context.environmentId)
  return { requested, isPreApproved: true, ...(granted && { additional: granted }), ...told }
}

function additional(
  args: PermissionArguments,
  context: CallContext,
): Pick<CallPermissions, 'additional' | 'isPreApproved'> {
  if (args.additional_permissions === undefined) {
    throw new InvalidCall(
      'missing `additional_permissions`; provide at least one of `network` or `file_system` when using ' +
        '`with_additional_permissions`',
    )
  }
  const wanted = resolvePermissions(args.additional_permissions, context.cwd)
  if (!wanted) {
    throw new InvalidCall(
      '`additional_permissions` must include at least one requested permission in `network` or `file_system`',
    )
  }
  // Inside of a sandbox the more specific word wins: a grant below a denied directory would open it again.
  const closed = [...wanted.read, ...wanted.write].find((path) => isDenied(path, context.permissions, context.place))
  if (closed !== undefined) {
    throw new InvalidCall(`\`${closed}\` is denied by the permission profile, and no approval can lift that`)
  }
  const granted = context.granted.of(context.environmentId)
  // What was granted is used as it was granted, and never more than that without a question.
  if (granted && context.granted.covers(context.environmentId, wanted)) {
    return { additional: granted, isPreApproved: true }
  }
  requireAsking(context.approvalPolicy)
  return { additional: granted ? unitePermissions(granted, wanted) : wanted, isPreApproved: false }
}

function requireAsking(policy: ApprovalPolicy): void {
  if (mayAskForSandbox(policy)) return
  const name = policyName(policy)
  throw new InvalidCall(
    `approval policy is ${name}; reject command — you cannot ask for escalated permissions if the approval policy is ${name}`,
  )
}
