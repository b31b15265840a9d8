import type { Environment } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { ApprovalCache } from '../approvals/approval-cache.ts'
import { Approvals } from '../approvals/approvals.ts'
import type { Approver } from '../approvals/approver.ts'
import { Pauses } from '../approvals/pauses.ts'
import { EventHub } from '../events/event-hub.ts'
import type { ExecEvent } from '../events/exec-event.ts'
import type { ExecResult } from '../output/exec-output.ts'
import { applyPatchText } from '../patch/apply-patch-text.ts'
import { needsSandbox, type PermissionProfile, permissionsOf, sandboxRequest } from '../permissions/sandbox-requests.ts'
import { findDanger } from '../script/dangerous.ts'
import type { ScriptParser } from '../script/script-parser.ts'
import { runOnce } from './run-once.ts'
import { type ExecutorApprovalPolicy, selectSandbox } from './select-sandbox.ts'

export interface ExecutorConfig {
  readonly approvalPolicy: ExecutorApprovalPolicy
  readonly permissions: PermissionProfile
  /** Where the sandbox is; a command may start elsewhere. */
  readonly cwd: PathUri
  readonly workspaceRoots?: readonly PathUri[] | undefined
}

interface AnyRequest {
  readonly callId: string
  readonly turnId: string
  readonly cwd: PathUri
}

export type ExecutionRequest =
  | (AnyRequest & {
      readonly mode: 'shell'
      readonly argv: readonly string[]
      readonly env?: Readonly<Record<string, string>> | undefined
      /** Ten seconds if nothing is said. */
      readonly timeoutMs?: number | undefined
      /** The model asks to run it without sandbox, and says why. */
      readonly escalated?: boolean | undefined
      readonly justification?: string | undefined
      readonly onOutput?: ((stream: 'stdout' | 'stderr' | 'pty', data: Uint8Array) => void) | undefined
    })
  | (AnyRequest & {
      readonly mode: 'patch'
      readonly patch: string
      /** Somebody was asked, and said yes. */
      readonly isApproved: boolean
    })

export interface ExecutorOptions {
  readonly environment: Environment
  /** Who is asked, in this order: the first who has an answer decides. Nobody: what has to be asked is refused. */
  readonly approvers?: readonly Approver[]
  readonly scripts: ScriptParser
  readonly now?: () => number
}

const DEFAULT_TIMEOUT_MS = 10_000
const REJECTED: ExecResult = { kind: 'rejected', message: 'exec command rejected by user' }

/**
 * One command or patch after the other, each run to its end: the older shape of a harness, in which whoever approves a
 * command lets it run without sandbox. `normalizeResult` makes one kind of output of whatever comes back.
 */
export class Executor {
  readonly #environment: Environment
  readonly #scripts: ScriptParser
  readonly #now: () => number
  readonly #events = new EventHub()
  readonly #approvals: Approvals
  /** The exact commands, in their places, that somebody has allowed for as long as this lasts. */
  readonly #approved = new ApprovalCache()
  #config: ExecutorConfig

  constructor(config: ExecutorConfig, { environment, approvers = [], scripts, now }: ExecutorOptions) {
    this.#config = config
    this.#environment = environment
    this.#scripts = scripts
    this.#now = now ?? (() => performance.now())
    this.#approvals = new Approvals({ approvers, events: this.#events, pauses: new Pauses() })
  }

  /** Told of what is asked and decided. Returns how to stop that. */
  onEvent(listener: (event: ExecEvent) => void): () => void {
    return this.#events.on(listener)
  }

  /** For the runs that begin from now on. */
  update(config: ExecutorConfig): void {
    this.#config = config
  }

  async run(request: ExecutionRequest, signal: AbortSignal = new AbortController().signal): Promise<ExecResult> {
    // Whatever is changed meanwhile, this run sees one config.
    const config = this.#config
    return request.mode === 'shell'
      ? await this.#shell(request, config, signal)
      : await this.#patch(request, config, signal)
  }

  async #shell(
    request: Extract<ExecutionRequest, { mode: 'shell' }>,
    config: ExecutorConfig,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const { argv } = request
    const [environment, scripts] = [this.#environment, this.#scripts]
    const sandbox = sandboxOf(config)
    const selection = selectSandbox({
      approvalPolicy: config.approvalPolicy,
      sandbox,
      isEnforceable: sandbox === undefined || (await environment.sandboxInfo({ signal }))?.available !== false,
      danger: findDanger(await scripts.commandLine(argv))?.text,
      isApproved: this.#approved.covers([keyOf(request)]),
      wantsOut: request.escalated === true,
    })
    if (selection.kind === 'reject') return { kind: 'rejected', message: `exec command rejected: ${selection.reason}` }
    if (selection.kind === 'ask') {
      if (!(await this.#ask(request, selection.reason, false, signal))) return REJECTED
      return await this.#attempt(request, undefined, signal)
    }
    const first = await this.#attempt(request, selection.sandbox, signal)
    const isDenied = first.kind === 'failed' && first.failure.kind === 'denied'
    if (!isDenied || !selection.escalatesOnFailure) return first
    if (!(await this.#ask(request, 'command failed; retry without sandbox?', true, signal))) return REJECTED
    return await this.#attempt(request, undefined, signal)
  }

  async #attempt(
    { argv, cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS, onOutput }: Extract<ExecutionRequest, { mode: 'shell' }>,
    sandbox: ReturnType<typeof sandboxOf>,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const [environment, now] = [this.#environment, this.#now]
    return await runOnce(environment, argv, { cwd, env, sandbox, signal, timeoutMs, onOutput, now })
  }

  /** A patch runs in its sandbox, or without if somebody has said yes to it. */
  async #patch(
    { patch, cwd, isApproved }: Extract<ExecutionRequest, { mode: 'patch' }>,
    config: ExecutorConfig,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    if (!isApproved && config.approvalPolicy === 'untrusted') {
      return {
        kind: 'failed',
        failure: { kind: 'other', error: new Error('patch requires approval but none was recorded') },
      }
    }
    const [environment, now] = [this.#environment, this.#now]
    const start = now()
    const sandbox = isApproved ? undefined : sandboxOf(config)
    try {
      const stdout = await applyPatchText(patch, { files: environment.files, cwd, sandbox, signal })
      const output = { exitCode: 0, stdout, stderr: '', aggregated: stdout, durationMs: now() - start, timedOut: false }
      return { kind: 'finished', output }
    } catch (error) {
      return { kind: 'failed', failure: { kind: 'other', error: error as Error } }
    }
  }

  async #ask(
    request: Extract<ExecutionRequest, { mode: 'shell' }>,
    reason: string | undefined,
    isRetry: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { argv, cwd, callId, turnId } = request
    const { decision } = await this.#approvals.ask(
      {
        callId,
        turnId,
        environmentId: this.#environment.id,
        subject: { kind: 'command', argv, cwd, tty: false },
        sandbox: { kind: 'outside' },
        ...(reason !== undefined && { reason }),
        ...(request.justification !== undefined && { justification: request.justification }),
        why: [],
        isRetry,
        decisions: ['approved', 'approved_for_session', 'denied', 'abort'],
      },
      { tool: 'shell', keys: [], signal },
    )
    if (decision.kind === 'approved_for_session') this.#approved.add([keyOf(request)])
    return decision.kind === 'approved' || decision.kind === 'approved_for_session'
  }
}

function keyOf({ argv, cwd, env = {} }: Extract<ExecutionRequest, { mode: 'shell' }>): object {
  return { argv, cwd, env }
}

function sandboxOf({ permissions, cwd, workspaceRoots }: ExecutorConfig) {
  const granted = permissionsOf(permissions)
  if (!needsSandbox(granted, false)) return undefined
  return sandboxRequest(granted, { cwd, workspaceRoots: workspaceRoots ?? [cwd] })
}
