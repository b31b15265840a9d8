import type { PathUri, Permissions } from '@waldo/protocol'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { Amendment, Requirement } from '../orchestrator/requirement.ts'
import type { SandboxPermissions } from '../permissions/sandbox-permissions.ts'
import type { NetworkLists } from './network-lists.ts'
import type { WrittenProtocol } from './rules/rule.ts'

/** A command as it is about to be run, with what is known about the call. */
export interface CommandToJudge {
  readonly argv: readonly string[]
  readonly environmentId: string
  readonly cwd: PathUri
  readonly approvalPolicy: ApprovalPolicy
  /** What commands may do if nobody is asked. */
  readonly permissions: Permissions
  /** Whether what it may reach is decided by a proxy. */
  readonly hasManagedNetwork: boolean
  /** `use_default` also for what was granted before. */
  readonly sandboxPermissions: SandboxPermissions
  /** What the model suggests as a rule. It grants nothing by itself. */
  readonly prefixRule?: readonly string[] | undefined
  /** The shell that commands are run with here; another one has to be judged itself. */
  readonly shell?: string | undefined
}

/** How far a decision reaches. */
export type AmendmentScope = 'project' | 'user'

/** Decides what a command needs. The rules are behind it, and the orchestrator does not know them. */
export interface CommandPolicy {
  judge(command: CommandToJudge): Promise<Requirement>
  /** Saves an allow rule. Resolves when it holds; throws if it could not be saved. */
  amend(amendment: Amendment, scope: AmendmentScope): Promise<void>
  /** Hosts that rules speak of. What is in none of the lists is as the settings say, or asked about. */
  networkRules(): NetworkLists
  /** Saves what was said about a host. Resolves when it is saved; throws if it could not be. */
  amendNetwork(host: string, protocol: WrittenProtocol, action: 'allow' | 'deny', scope: AmendmentScope): Promise<void>
}
