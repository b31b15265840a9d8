import type { ReadyEnvironment, StartOptions } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { ApprovalSubject } from '../approvals/approver.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolCall } from '../conversation/tool-call.ts'
import type { ExecutionNetwork } from '../network/network-execution.ts'
import { offersRetryOfCommands } from '../orchestrator/orchestrate.ts'
import type { Requirement } from '../orchestrator/requirement.ts'
import type { Attempt, AttemptResult, CallIdentity, Denial, ToolRuntime } from '../orchestrator/tool-runtime.ts'
import type { HeadTailBuffer } from '../output/head-tail-buffer.ts'
import { ProcessLog } from '../output/log/process-log.ts'
import type { CallPermissions } from '../permissions/call-permissions.ts'
import { permissionsOf } from '../permissions/sandbox-requests.ts'
import { canonicalCommand } from '../script/canonical-command.ts'
import { childEnvironment } from './child-environment.ts'
import { denialOf, type Ended } from './ended.ts'
import { ExecSession, type Lifetime } from './exec-session.ts'
import { PRUNED } from './session-store.ts'
import type { Until } from './until.ts'
import { waitForSession } from './wait-for-session.ts'

/** A command, decided in every detail but its sandbox. */
export interface Command {
  readonly sessionId: number
  /** What the model wrote. */
  readonly text: string
  readonly argv: readonly string[]
  readonly cwd: PathUri
  readonly tty: boolean
  readonly lifetime: Lifetime
  readonly permissions: CallPermissions
  readonly prefixRule?: readonly string[] | undefined
  readonly yieldMs: number
  readonly until?: Until | undefined
}

/** What came of looking at a process for a while. */
export interface Observation {
  readonly session: ExecSession
  readonly output: HeadTailBuffer
  /** Where in its log this output begins. */
  readonly offset: number
  /** What the executor could not keep until we read it. */
  readonly droppedBytes: number
  readonly wallMs: number
  /** Absent while it goes on. */
  readonly ended?: Ended
  readonly denial?: Denial
}

/** A network denial that comes with the end may be told a moment after it. */
const LATE_DENIAL_MS = 100

/** Runs a command: what the orchestrator knows of one. */
export class CommandRun implements ToolRuntime<Observation> {
  readonly identity: CallIdentity
  readonly subject: ApprovalSubject
  readonly #command: Command
  readonly #selected: ReadyEnvironment
  readonly #call: ToolCall
  readonly #services: Services
  #approvalKeys: readonly unknown[] = []

  constructor(command: Command, selected: ReadyEnvironment, call: ToolCall, services: Services) {
    const { callId, turn } = call
    const { argv, cwd, tty } = command
    this.identity = { tool: 'exec_command', callId, turnId: turn.id, environmentId: selected.environmentId }
    this.subject = { kind: 'command', argv, cwd, tty }
    this.#command = command
    this.#selected = selected
    this.#call = call
    this.#services = services
  }

  get approvalKeys(): readonly unknown[] {
    return this.#approvalKeys
  }

  async requirement(): Promise<Requirement> {
    const { argv, cwd, tty, permissions, prefixRule } = this.#command
    const { environmentId } = this.#selected
    const { approvalPolicy, permissions: profile } = this.#call.turn.settings
    const { shell } = await this.#selected.environment.info({ signal: this.#call.signal })
    // An answer for the conversation holds for the same command, in the same place, with the same rights.
    const command = canonicalCommand(argv, await this.#services.scripts.commandLine(argv))
    const { requested, additional = null, isPreApproved } = permissions
    this.#approvalKeys = [
      { environmentId, executable: argv[0], command, cwd, tty, sandboxPermissions: requested, additional },
    ]
    return await this.#services.policy.judge({
      argv,
      environmentId,
      cwd,
      approvalPolicy,
      permissions: permissionsOf(profile),
      sandboxPermissions: isPreApproved ? 'use_default' : requested,
      prefixRule,
      shell: shell.path,
    })
  }

  offersRetry(policy: ApprovalPolicy): boolean {
    return offersRetryOfCommands(policy)
  }

  async run(attempt: Attempt): Promise<AttemptResult<Observation>> {
    const { sessionId, text, argv, cwd, tty, lifetime, yieldMs, until } = this.#command
    const { environment, environmentId } = this.#selected
    const { store, completions, events, now, logs } = this.#services
    const { callId, turn } = this.#call
    const network = attempt.isBypass ? undefined : this.#network()
    const process = await environment.processes.start(argv, await this.#startOptions(attempt, network))
    const facts = { id: sessionId, callId, turnId: turn.id, environmentId, command: text, argv, cwd, tty, lifetime }
    const session = new ExecSession(
      { ...facts, sandboxed: attempt.sandbox !== undefined, attempt: attempt.number },
      { process, log: new ProcessLog(logs), events, now, network },
    )
    completions.watch(session)
    const leaving = store.add(session)
    if (leaving) void endQuietly(leaving, PRUNED, this.#services)
    network?.onDenied(({ text }) => void endQuietly(session, text, this.#services))
    const observation = await session.exclusively(() =>
      observe(session, { ms: yieldMs, until, signal: attempt.signal, services: this.#services }),
    )
    return { value: observation, ...(observation.denial && { denial: observation.denial }) }
  }

  async discard({ session }: Observation): Promise<void> {
    this.#services.store.withdraw(session)
  }

  async #startOptions(
    { sandbox, isBypass, signal }: Attempt,
    network: ExecutionNetwork | undefined,
  ): Promise<StartOptions> {
    const { cwd, tty } = this.#command
    const { settings } = this.#call.turn
    const { platformOs } = await this.#selected.environment.info({ signal })
    return {
      signal,
      cwd,
      tty,
      ...childEnvironment({
        policy: settings.shellEnvironment,
        platform: platformOs,
        conversationId: this.#services.conversationId,
        permissions: permissionsOf(settings.permissions),
        isBypass,
      }),
      sandbox,
      limits: settings.limits,
      network: network?.network,
      toolCallId: this.#call.callId,
    }
  }

  #network(): ExecutionNetwork | undefined {
    const { settings, id: turnId } = this.#call.turn
    if (!settings.network) return undefined
    const { additional } = this.#command.permissions
    return this.#services.networks.forExecution({
      ...settings.network,
      callId: this.#call.callId,
      turnId,
      environmentId: this.#selected.environmentId,
      command: this.#command.argv,
      approvalPolicy: settings.approvalPolicy,
      sandbox: additional ? { kind: 'widened', permissions: additional } : { kind: 'inside' },
      signal: this.#call.turn.signal,
    })
  }
}

interface ObserveOptions {
  readonly ms: number
  readonly until?: Until | undefined
  readonly signal: AbortSignal
  readonly services: Services
}

/** Waits for it, and takes what it has said. */
export async function observe(
  session: ExecSession,
  { ms, until, signal, services: { pauses, now } }: ObserveOptions,
): Promise<Observation> {
  const start = now()
  await waitForSession(session, { ms, until, pauses, signal, now })
  const ended = session.hasExited ? await session.ended : undefined
  if (ended && ended.exitCode !== 0) await session.networkSettled(LATE_DENIAL_MS)
  const denial = ended && denialOf(ended, session.networkDenial)
  return {
    session,
    ...session.takeUnread(),
    wallMs: now() - start,
    ...(ended && { ended }),
    ...(denial && { denial }),
  }
}

/** Nobody waits for it; if it fails, that is told. */
export async function endQuietly(session: ExecSession, reason: string, { events }: Services): Promise<void> {
  try {
    await session.kill(reason)
  } catch (error) {
    const { callId, turnId, id } = session.facts
    const text = `process ${id} could not be ended: ${(error as Error).message}`
    events.emit({ type: 'warning', callId, turnId, text })
  }
}
