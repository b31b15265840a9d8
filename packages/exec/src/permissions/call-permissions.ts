import type { PathUri } from '@waldo/protocol'
import { type ApprovalPolicy, mayAskForSandbox, sandboxRefusal } from '../approvals/approval-policy.ts'
import { InvalidCall } from '../conversation/invalid-call.ts'
import {
  type AdditionalPermissions,
  coversPermissions,
  type RequestedPermissions,
  resolvePermissions,
  unitePermissions,
} from './additional-permissions.ts'
import type { SandboxPermissions } from './sandbox-permissions.ts'

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
  readonly approvalPolicy: ApprovalPolicy
  /** What was granted before to calls like this one. */
  readonly granted: AdditionalPermissions | undefined
  /** The first of these that the profile denies, whatever leads there. */
  readonly findDenied: (paths: readonly PathUri[]) => Promise<PathUri | undefined>
}

/** Throws an `InvalidCall` for what contradicts itself, and for what nobody may be asked about. */
export async function callPermissions(args: PermissionArguments, context: CallContext): Promise<CallPermissions> {
  const requested = args.sandbox_permissions ?? 'use_default'
  const { justification } = args
  if (justification !== undefined && args.sandbox_permissions === undefined) {
    throw new InvalidCall(
      '`justification` requires an explicit `sandbox_permissions`; set it to `require_escalated` or ' +
        '`with_additional_permissions`, or omit the justification',
    )
  }
  const told = justification === undefined ? {} : { justification }
  if (requested === 'with_additional_permissions') return { ...(await additional(args, context)), requested, ...told }
  if (args.additional_permissions !== undefined) {
    throw new InvalidCall(
      '`additional_permissions` requires `sandbox_permissions` set to `with_additional_permissions`',
    )
  }
  if (requested === 'require_escalated') {
    requireAsking(context.approvalPolicy)
    return { requested, isPreApproved: false, ...told }
  }
  const granted = await stillGranted(context)
  return { requested, isPreApproved: true, ...(granted && { additional: granted }), ...told }
}

async function additional(
  args: PermissionArguments,
  context: CallContext,
): Promise<Pick<CallPermissions, 'additional' | 'isPreApproved'>> {
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
  await refuseDenied(wanted, context.findDenied)
  const granted = await stillGranted(context)
  // What was granted is used as it was granted, and never more than that without a question.
  if (granted && coversPermissions(granted, wanted)) return { additional: granted, isPreApproved: true }
  requireAsking(context.approvalPolicy)
  return { additional: granted ? unitePermissions(granted, wanted) : wanted, isPreApproved: false }
}

/** Throws an `InvalidCall` for what the profile denies: no approval can lift that. */
export async function refuseDenied(
  { read, write }: AdditionalPermissions,
  findDenied: CallContext['findDenied'],
): Promise<void> {
  const denied = await findDenied([...read, ...write])
  if (denied === undefined) return
  throw new InvalidCall(`\`${denied}\` is denied by the permission profile, and no approval can lift that`)
}

/** What of it can still be had: the profile, or what a link leads to, may be another one since. */
export async function stillGranted({
  granted,
  findDenied,
}: Pick<CallContext, 'granted' | 'findDenied'>): Promise<AdditionalPermissions | undefined> {
  if (!granted) return undefined
  const open = async (paths: readonly PathUri[]) => {
    const denied = await Promise.all(paths.map(async (path) => (await findDenied([path])) !== undefined))
    return paths.filter((_, index) => !denied[index])
  }
  return { ...granted, read: await open(granted.read), write: await open(granted.write) }
}

function requireAsking(policy: ApprovalPolicy): void {
  if (!mayAskForSandbox(policy)) throw new InvalidCall(sandboxRefusal(policy))
}
