import type { EnvironmentInfo, PathUri, Permissions } from '@waldo/protocol'
import { type ApprovalPolicy, mayAskForSandbox, policyName } from '../approvals/approval-policy.ts'
import { describePath } from '../approvals/describe-path.ts'
import type { Requirement, Why } from '../orchestrator/requirement.ts'
import { isDenied, type SandboxPlace } from '../permissions/sandbox-requests.ts'
import { isWritable } from '../permissions/writable-paths.ts'

export interface PatchSituation {
  readonly touched: readonly PathUri[]
  readonly permissions: Permissions
  readonly place: SandboxPlace & Pick<EnvironmentInfo, 'temporaryDirectories'>
  readonly approvalPolicy: ApprovalPolicy
}

/** What a patch needs before it may write anything. */
export function patchRequirement(situation: PatchSituation): Requirement {
  const { permissions, place, touched, approvalPolicy } = situation
  const denied = touched.find((path) => isDenied(path, permissions, place))
  if (denied !== undefined) {
    const text = `the permission profile denies ${denied}`
    return { kind: 'forbidden', reason: `patch rejected: ${text}`, why: [why(text, 'another profile')] }
  }
  const outside = outsidePaths(situation)
  if (approvalPolicy === 'untrusted') {
    return { kind: 'ask', why: [why('the approval policy is untrusted: every patch is asked about')] }
  }
  if (outside.length === 0) {
    return { kind: 'skip', bypassSandbox: false, why: [why('everything it writes may be written')] }
  }
  const text = `it writes where nothing may be written unasked: ${outside.slice(0, 5).map(describePath).join(', ')}`
  if (mayAskForSandbox(approvalPolicy)) return { kind: 'ask', why: [why(text)] }
  const isReadOnly = !place.workspaceRoots.some((root) => isWritable(root, permissions, place))
  return {
    kind: 'forbidden',
    reason: isReadOnly
      ? 'patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings'
      : 'patch rejected: writing outside of the project; rejected by user approval settings',
    why: [why(text, `an approval policy under which somebody may be asked; it is ${policyName(approvalPolicy)}`)],
  }
}

/** What the profile does not let it write. */
export function outsidePaths({ touched, permissions, place }: Omit<PatchSituation, 'approvalPolicy'>): PathUri[] {
  return touched.filter((path) => !isWritable(path, permissions, place))
}

function why(text: string, otherwise?: string): Why {
  return { source: 'patch', text, ...(otherwise !== undefined && { otherwise }) }
}
