import type { PathUri } from '@waldo/protocol'
import type { Approvals } from '../approvals/approvals.ts'
import type { Pauses } from '../approvals/pauses.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { NetworkApprovals } from '../network/network-approvals.ts'
import type { LogBudget } from '../output/log/log-budget.ts'
import type { GrantedPermissions } from '../permissions/granted-permissions.ts'
import type { CommandPolicy } from '../policy/command-policy.ts'
import type { ScriptParser } from '../script/script-parser.ts'
import type { Completions } from '../unified-exec/completions.ts'
import type { SessionIds } from '../unified-exec/session-ids.ts'
import type { SessionStore } from '../unified-exec/session-store.ts'

/** What the calls of one conversation share. */
export interface Services {
  readonly conversationId: string
  readonly approvals: Approvals
  readonly pauses: Pauses
  readonly policy: CommandPolicy
  readonly scripts: ScriptParser
  readonly granted: GrantedPermissions
  /** What no command may write unasked, whatever its profile says. */
  readonly keptPaths: readonly PathUri[]
  readonly networks: NetworkApprovals
  readonly events: EventHub
  readonly ids: SessionIds
  readonly store: SessionStore
  readonly completions: Completions
  readonly logs: LogBudget
  /** Milliseconds, from whenever, never backwards. */
  readonly now: () => number
}
