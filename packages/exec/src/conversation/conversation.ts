import { ExecError, linked, type ReadyEnvironments } from '@waldo/environment'
import { DecodeError, type PathUri } from '@waldo/protocol'
import { Approvals } from '../approvals/approvals.ts'
import type { Approver } from '../approvals/approver.ts'
import { Pauses } from '../approvals/pauses.ts'
import { EventHub } from '../events/event-hub.ts'
import type { ExecEvent } from '../events/exec-event.ts'
import { NetworkApprovals } from '../network/network-approvals.ts'
import { TurnAborted } from '../orchestrator/turn-aborted.ts'
import { formatAborted } from '../output/aborted-response.ts'
import { LogBudget } from '../output/log/log-budget.ts'
import { GrantedPermissions } from '../permissions/granted-permissions.ts'
import type { CommandPolicy } from '../policy/command-policy.ts'
import type { ScriptParser } from '../script/script-parser.ts'
import { callTool, type ToolOptions, toolDefinitions } from '../tools/tool-catalog.ts'
import type { ToolDefinition } from '../tools/tool-definition.ts'
import { type Completion, Completions } from '../unified-exec/completions.ts'
import { endQuietly } from '../unified-exec/end-quietly.ts'
import { type IdSource, randomIds, SessionIds } from '../unified-exec/session-ids.ts'
import { SessionStore } from '../unified-exec/session-store.ts'
import { InvalidCall } from './invalid-call.ts'
import type { Services } from './services.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import type { ToolAnswer } from './tool-call.ts'
import { Turn } from './turn.ts'

export interface ConversationOptions {
  /** Who is asked, in this order: the first who has an answer decides. Nobody: what has to be asked is refused. */
  readonly approvers?: readonly Approver[]
  readonly policy: CommandPolicy
  readonly scripts: ScriptParser
  /** What no command may write unasked, whatever its profile says: where the rules are. */
  readonly keptPaths?: readonly PathUri[]
  /** What holds unless a turn says otherwise. */
  readonly settings?: Partial<Settings>
  readonly id?: string
  readonly ids?: IdSource
  readonly now?: () => number
  /** Hears of listeners that throw. Without it, they fail as if nobody had called them. */
  readonly failed?: (error: unknown) => void
}

export interface TurnOptions {
  readonly environments: ReadyEnvironments
  readonly settings?: Partial<Settings>
  readonly id?: string
}

export interface CallContext {
  readonly turn: Turn
  readonly callId?: string
  readonly signal?: AbortSignal
}

/** What the tool calls of one conversation share: its processes, what was approved, and who listens. */
export class Conversation implements AsyncDisposable {
  readonly #services: Services
  readonly #completions: Completions
  readonly #settings: Settings
  #closing: Promise<void> | undefined

  constructor({
    approvers = [],
    policy,
    scripts,
    keptPaths = [],
    settings,
    id,
    ids = randomIds,
    now,
    failed,
  }: ConversationOptions) {
    const events = new EventHub(failed)
    const pauses = new Pauses()
    const approvals = new Approvals({ approvers, events, pauses })
    const sessionIds = new SessionIds(ids)
    const store = new SessionStore(sessionIds)
    this.#settings = { ...DEFAULT_SETTINGS, ...settings }
    this.#completions = new Completions(store, failed)
    this.#services = {
      conversationId: id ?? crypto.randomUUID(),
      approvals,
      pauses,
      policy,
      scripts,
      granted: new GrantedPermissions(),
      keptPaths,
      networks: new NetworkApprovals({
        approvals,
        events,
        saveRule: (...rule) => policy.amendNetwork(...rule),
        failed,
      }),
      events,
      ids: sessionIds,
      store,
      completions: this.#completions,
      logs: new LogBudget(),
      now: now ?? (() => performance.now()),
    }
  }

  get id(): string {
    return this.#services.conversationId
  }

  turn({ environments, settings, id = crypto.randomUUID() }: TurnOptions): Turn {
    return new Turn(id, environments, { ...this.#settings, ...settings }, this.#services)
  }

  /** What a model may be offered in this turn. */
  tools(turn: Turn, options?: ToolOptions): readonly ToolDefinition[] {
    return toolDefinitions(turn, this.#services, options)
  }

  /**
   * One call of a model. `args` is what it wrote: JSON as text or parsed, or for a tool that takes text the text. What
   * went wrong is an answer, too. Throws `TurnAborted` when somebody has stopped the turn: then there is nothing to
   * answer, and nobody to answer to.
   */
  async call(
    tool: string,
    args: unknown,
    { turn, callId = crypto.randomUUID(), signal }: CallContext,
  ): Promise<ToolAnswer> {
    const { now } = this.#services
    const start = now()
    const ending = linked(turn.signal, signal)
    const { signal: signals } = ending
    try {
      if (this.#closing) throw new InvalidCall('the conversation is closed')
      signals.throwIfAborted()
      return await callTool(tool, args, { callId, turn, signal: signals }, this.#services)
    } catch (error) {
      if (error instanceof TurnAborted && !signals.aborted) {
        await turn.interrupt()
        throw error
      }
      if (signals.aborted) return { text: formatAborted(tool, now() - start), success: false }
      if (error instanceof InvalidCall || error instanceof DecodeError || ExecError.is(error)) {
        return { text: error.message, success: false }
      }
      // A mistake of ours must not end what the model is doing, nor stay unseen.
      const text = `${tool} failed: ${(error as Error).message}`
      this.#services.events.emit({ type: 'warning', callId, turnId: turn.id, text, error })
      return { text, success: false }
    } finally {
      ending.release()
    }
  }

  /** Told of everything that happens. Returns how to stop that. */
  onEvent(listener: (event: ExecEvent) => void): () => void {
    return this.#services.events.on(listener)
  }

  /** Told when a process has ended that nobody waits for. Returns how to stop that. */
  onCompletion(listener: () => void): () => void {
    return this.#completions.onCompletion(listener)
  }

  /** Those that have ended since, once each: `completionMessage` makes one message of them. */
  async takeCompletions(): Promise<readonly Completion[]> {
    return await this.#completions.take()
  }

  /** Ends what is not detached, and lets go of everything. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    const { store } = this.#services
    const ending = store.open.filter(({ facts, hasExited }) => !hasExited && facts.lifetime !== 'detached')
    await Promise.all(ending.map((session) => endQuietly(session, 'the conversation is over', this.#services)))
    store.close()
  }
}
