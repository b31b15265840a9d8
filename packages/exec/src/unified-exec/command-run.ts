import type { ReadyEnvironment, StartOptions } from '@waldo/environment'
import type { EnvironmentInfo, PathUri, Permissions } from '@waldo/protocol'
import { type ApprovalPolicy, mayAskForSandbox } from '../approvals/approval-policy.ts'
import type { ApprovalSubject } from '../approvals/approver.ts'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolCall } from '../conversation/tool-call.ts'
import type { ExecutionNetwork } from '../network/network-execution.ts'
import type { Requirement } from '../orchestrator/requirement.ts'
import type { Attempt, AttemptResult, CallIdentity, ToolRuntime } from '../orchestrator/tool-runtime.ts'
import { ProcessLog } from '../output/log/process-log.ts'
import type { CallPermissions } from '../permissions/call-permissions.ts'
import { canonicalCommand } from '../script/canonical-command.ts'
import { childEnvironment } from './child-environment.ts'
import { endQuietly } from './end-quietly.ts'
import { ExecSession } from './exec-session.ts'
import { type Observation, observe } from './observation.ts'
import type { Lifetime } from './session-facts.ts'
import { MAX_SESSIONS } from './session-store.ts'
import type { Until } from './until.ts'

/** A command, decided in every detail but its sandbox. */
export interface Command {
  /** What the model wrote. */
  readonly text: string
  readonly argv: readonly string[]
  readonly cwd: PathUri
  readonly tty: boolean
  readonly lifetime: Lifetime
  /** What the environment says of itself. */
  readonly info: EnvironmentInfo
  /** What commands may do there if nobody is asked, and what this one may. */
  readonly profile: Permissions
  readonly permissions: CallPermissions
  readonly prefixRule?: readonly string[] | undefined
  readonly yieldMs: number
  readonly until?: Until | undefined
}

const PRUNED = `more than ${MAX_SESSIONS} processes were open, and it was not used for longest`

/** Runs a command: what the orchestrator knows of one. */
export class CommandRun implements ToolRuntime<Observation> {
  readonly identity: CallIdentity
  readonly subject: ApprovalSubject
  readonly #command: Command
  readonly #selected: ReadyEnvironment
  readonly #call: ToolCall
  readonly #services: Services
  #approvalKeys: readonly unknown[] = []
  /** Reserved for what it starts; the store's as soon as there is something. */
  #id: number | undefined
  #madeRoom: readonly ExecSession[] = []

  constructor(command: Command, selected: ReadyEnvironment, call: ToolCall, services: Services) {
    const { callId, turn } = call
    const { argv, cwd, tty, lifetime } = command
    this.identity = { tool: 'exec_command', callId, turnId: turn.id, environmentId: selected.environmentId }
    this.subject = { kind: 'command', argv, cwd, tty, ...(lifetime === 'detached' && { lifetime }) }
    this.#command = command
    this.#selected = selected
    this.#call = call
    this.#services = services
    this.#id = services.ids.reserve()
  }

  /** Who had to go for it. */
  get madeRoom(): readonly ExecSession[] {
    return this.#madeRoom
  }

  /** Whatever came of it. */
  releaseUnusedId(): void {
    if (this.#id !== undefined) this.#services.ids.release(this.#id)
    this.#id = undefined
  }

  get approvalKeys(): readonly unknown[] {
    return this.#approvalKeys
  }

  async requirement(): Promise<Requirement> {
    const { argv, cwd, tty, lifetime, info, profile, permissions, prefixRule } = this.#command
    const { environmentId } = this.#selected
    const { approvalPolicy, network } = this.#call.turn.settings
    const { requested, additional = null, isPreApproved } = permissions
    const requirement = await this.#services.policy.judge({
      argv,
      environmentId,
      cwd,
      approvalPolicy,
      permissions: profile,
      hasManagedNetwork: network !== undefined,
      sandboxPermissions: isPreApproved ? 'use_default' : requested,
      prefixRule,
      shell: info.shell.path,
    })
    if (requirement.kind !== 'ask') return requirement
    // An answer for the conversation holds for the same command, in the same place, with the same rights.
    const command = canonicalCommand(argv, await this.#services.scripts.commandLine(argv))
    this.#approvalKeys = [
      { environmentId, executable: argv[0], command, cwd, tty, lifetime, sandboxPermissions: requested, additional },
    ]
    return requirement
  }

  offersRetry(policy: ApprovalPolicy): boolean {
    return offersRetryOfCommands(policy)
  }

  async run(attempt: Attempt): Promise<AttemptResult<Observation>> {
    const { yieldMs: ms, until } = this.#command
    const { signal } = attempt
    const session = await this.#start(attempt)
    const observation = await session.exclusively(
      () => observe(session, { ms, until, signal, services: this.#services }),
      signal,
    )
    return { value: observation, ...(observation.denial && { denial: observation.denial }) }
  }

  async discard({ session }: Observation): Promise<void> {
    const { store, ids } = this.#services
    // While somebody was asked it may have been forgotten, and its number be another's.
    this.#id = store.withdraw(session) ? session.facts.id : ids.reserve()
  }

  async #start(attempt: Attempt): Promise<ExecSession> {
    const { text: command, argv, cwd, tty, lifetime } = this.#command
    const { environment, environmentId } = this.#selected
    const { store, completions, events, now, logs } = this.#services
    const { callId, turn } = this.#call
    const network = attempt.isBypass ? undefined : this.#network()
    this.#requireOpen()
    const process = await environment.processes.start(argv, this.#startOptions(attempt, network))
    if (store.isClosed) await process.terminate()
    this.#requireOpen()
    const facts = { id: this.#id!, callId, turnId: turn.id, environmentId, command, argv, cwd, tty, lifetime }
    const session = new ExecSession(
      { ...facts, sandboxed: attempt.sandbox !== undefined, attempt: attempt.number },
      {
        process,
        log: new ProcessLog(logs),
        events,
        now,
        network,
        isReachable: () => environment.status.state === 'ready',
      },
    )
    this.#id = undefined
    completions.watch(session)
    this.#madeRoom = store.add(session)
    for (const leaving of this.#madeRoom) void endQuietly(leaving, PRUNED, this.#services)
    network?.onDenied(({ kind, text }) => {
      void endQuietly(session, text, this.#services)
      if (kind === 'stopped') void this.#call.turn.interrupt()
    })
    return session
  }

  /** A conversation may be closed while somebody is asked, or while an executor starts what nobody would end then. */
  #requireOpen(): void {
    if (this.#services.store.isClosed) throw new InvalidCall('the conversation is closed')
  }

  #startOptions({ sandbox, isBypass, signal }: Attempt, network: ExecutionNetwork | undefined): StartOptions {
    const { cwd, tty, info, profile } = this.#command
    const { settings } = this.#call.turn
    return {
      signal,
      cwd,
      tty,
      ...childEnvironment({
        policy: settings.shellEnvironment,
        platform: info.platformOs,
        conversationId: this.#services.conversationId,
        permissions: profile,
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
    const { allow, ask, deny } = this.#services.policy.networkRules()
    const hosts = (names: readonly string[], verdict: 'allow' | 'deny' | 'none') =>
      Object.fromEntries(names.map((name) => [name, verdict]))
    return this.#services.networks.forExecution({
      ...settings.network,
      // The stricter word counts, whoever says it.
      domains: {
        ...hosts(allow, 'allow'),
        ...settings.network.domains,
        ...hosts(
          ask.filter((host) => settings.network?.domains?.[host] !== 'deny'),
          'none',
        ),
        ...hosts(deny, 'deny'),
      },
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

/** Whether a command that was denied something is asked about again: under `on-request` the model asks by itself. */
export function offersRetryOfCommands(policy: ApprovalPolicy): boolean {
  return policy !== 'on-request' && mayAskForSandbox(policy)
}
