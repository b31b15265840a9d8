import { requireTool } from '@waldo/environment'
import { mayAskForSandbox, policyName } from '../approvals/approval-policy.ts'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { TurnAborted } from '../orchestrator/turn-aborted.ts'
import { type RequestedPermissions, resolvePermissions } from './additional-permissions.ts'
import { refuseDenied } from './call-permissions.ts'
import { findDenied } from './denied-paths.ts'

export interface RequestPermissionsArguments {
  readonly permissions: RequestedPermissions
  readonly reason?: string | undefined
  readonly environment_id?: string | undefined
}

/** Asks for permissions ahead, for the rest of the turn or of the conversation: whoever is asked decides which. */
export async function requestPermissions(
  args: RequestPermissionsArguments,
  call: ToolCall,
  { approvals, granted }: Services,
): Promise<ToolAnswer> {
  const { environments, settings, id: turnId } = call.turn
  const { approvalPolicy } = settings
  const mayAsk =
    typeof approvalPolicy === 'string' ? mayAskForSandbox(approvalPolicy) : approvalPolicy.granular.requestPermissions
  if (!mayAsk) {
    throw new InvalidCall(`approval policy is ${policyName(approvalPolicy)}; nobody may be asked for permissions`)
  }
  const selected = requireTool(environments, 'exec_command', { environmentId: args.environment_id })
  const { environmentId, cwd } = selected
  const permissions = resolvePermissions(args.permissions, cwd)
  if (!permissions) throw new InvalidCall('`permissions` must include at least one of `network` and `file_system`')
  const { environment } = selected
  const info = await environment.info({ signal: call.signal })
  const profile = call.turn.permissionsIn(selected)
  const context = { permissions: profile, place: selected, files: environment.files, info, signal: call.signal }
  await refuseDenied(permissions, (paths) => findDenied(paths, context))
  const { decision } = await approvals.ask(
    {
      callId: call.callId,
      turnId,
      environmentId,
      subject: { kind: 'permissions', permissions, cwd },
      sandbox: { kind: 'widened', permissions },
      ...(args.reason !== undefined && { justification: args.reason }),
      why: [],
      isRetry: false,
      decisions: ['approved', 'approved_for_session', 'denied', 'abort'],
    },
    { tool: 'request_permissions', keys: [], signal: call.signal },
  )
  switch (decision.kind) {
    case 'approved':
      granted.grant(environmentId, permissions, { turnId })
      return { text: 'Granted for this turn. Commands have these permissions from now on.', success: true }
    case 'approved_for_session':
      granted.grant(environmentId, permissions, 'conversation')
      return { text: 'Granted for this conversation. Commands have these permissions from now on.', success: true }
    case 'abort':
      throw new TurnAborted()
    case 'denied':
      return { text: `Permissions were not granted: ${decision.rejection ?? 'rejected by user'}`, success: false }
    default:
      return { text: 'Permissions were not granted.', success: false }
  }
}
