import type { Confinement, OutputLog, ProcessHost } from '@waldo/local'
import {
  ErrorCode,
  limits,
  type Params,
  type ProcessExit,
  ProtocolError,
  type Result,
  type TerminalSize,
  toPosixPath,
} from '@waldo/protocol'
import type { ClientCalls } from './client-calls.ts'
import type { ExpiryQueue } from './expiry-queue.ts'
import { SessionWatches } from './files/session-watches.ts'
import { HostedProcess } from './hosted-process.ts'
import { type ReadContext, readOutput } from './read-output.ts'
import type { ExecutorSandbox } from './sandbox/executor-sandbox.ts'
import type { RequestedSandbox } from './sandbox/requested-sandbox.ts'

const DEFAULT_TERMINAL: TerminalSize = { cols: 80, rows: 24 }
/** Ended processes that one session remembers, so that a client which runs very many cannot fill our memory. */
const MAX_RECEIPTS = 4096

/** Of a process that may do what we may. */
const PLAIN: RequestedSandbox = { sandboxType: 'none', prepare: () => undefined }

/** Where a session's events go while somebody is there to take them. */
export interface EventSink {
  follow(processId: string, log: OutputLog, seq: number, options?: { hold?: boolean }): void
  unfollow(processId: string): void
  continueFrom(processId: string, nextSeq: number): void
  rewind(processId: string, log: OutputLog, seq: number): void
}

/** What processes run on. */
export interface SessionMachine {
  readonly processes: { readonly host: ProcessHost }
  readonly sandbox: ExecutorSandbox
}

interface StartingProcess {
  readonly startToken: string | undefined
  readonly result: Promise<Result<'process/start'>>
  cancelled: boolean
}

/**
 * What belongs together from `initialize` to the end: the processes and watches of one client. It outlives the client's
 * connection, knows nothing of how that is made, and goes on collecting output while there is none.
 */
export class Session {
  readonly id = crypto.randomUUID()
  readonly watches = new SessionWatches()
  readonly #machine: SessionMachine
  readonly #receipts: ExpiryQueue<HostedProcess>
  readonly #processes = new Map<string, HostedProcess>()
  /** Those whose sandbox takes a moment. */
  readonly #starting = new Map<string, StartingProcess>()
  #sink: EventSink | undefined
  #client: ClientCalls | undefined
  #started = false
  #ended = false

  constructor(machine: SessionMachine, receipts: ExpiryQueue<HostedProcess>) {
    this.#machine = machine
    this.#receipts = receipts
  }

  get isEmpty(): boolean {
    return this.#processes.size === 0 && this.watches.size === 0
  }

  /** From now on events go to this sink. What came before is there to be read. */
  attach({ sink, client }: { sink: EventSink; client: ClientCalls }): void {
    this.#sink = sink
    this.#client = client
    for (const [processId, { process, description }] of this.#processes) {
      if (description.push && process.log.closedSeq === undefined)
        sink.follow(processId, process.log, process.log.nextSeq, { hold: true })
    }
  }

  detach(sink: EventSink): void {
    if (this.#sink !== sink) return
    this.#sink = undefined
    this.#client = undefined
  }

  start(params: Params<'process/start'>): Result<'process/start'> | Promise<Result<'process/start'>> {
    const { processId } = params
    refuseContradictions(params)
    const requested = this.#requestedSandbox(params)
    if (params.argv.length === 0) throw new ProtocolError(ErrorCode.invalidParams, 'argv must not be empty')
    if (this.#ended) throw new ProtocolError(ErrorCode.invalidRequest, 'the session has ended')
    const previous = this.#processes.get(processId)
    // The answer to the first one was lost on its way: it has happened, and happens only once.
    const repeats = (token: string | undefined) => params.startToken !== undefined && token === params.startToken
    if (repeats(previous?.description.startToken)) return { processId, sandboxType: requested.sandboxType }
    const starting = this.#starting.get(processId)
    if (starting && repeats(starting.startToken)) return starting.result
    if (starting || (previous && !previous.idIsFree)) {
      throw new ProtocolError(ErrorCode.invalidRequest, `process ${processId} already exists`)
    }
    const confinement = requested.prepare()
    if (!(confinement instanceof Promise)) return this.#run(params, requested, confinement)
    const pending = { startToken: params.startToken, cancelled: false }
    const result = confinement
      .then((ready) => {
        if (!pending.cancelled && !this.#ended) return this.#run(params, requested, ready)
        ready?.abandon()
        throw new ProtocolError(ErrorCode.invalidRequest, `process ${processId} start was cancelled`)
      })
      .finally(() => this.#starting.delete(processId))
    this.#starting.set(processId, Object.assign(pending, { result }))
    return result
  }

  /** What sees to it is most of the program, and loaded with the first process that needs it. */
  #requestedSandbox(params: Params<'process/start'>): RequestedSandbox {
    if (!params.sandbox && !params.networkProxy && !params.limits && !params.enforceManagedNetwork) return PLAIN
    const { requestedSandbox } =
      require('./sandbox/requested-sandbox.ts') as typeof import('./sandbox/requested-sandbox.ts')
    return requestedSandbox(this.#machine, params, () => this.#client)
  }

  #run(
    params: Params<'process/start'>,
    { sandboxType }: RequestedSandbox,
    confinement: Confinement | undefined,
  ): Result<'process/start'> {
    const { processId, argv, cwd, tty, startToken, push } = params
    const process = this.#machine.processes.host.start(
      {
        argv: argv as [string, ...string[]],
        arg0: params.arg0,
        cwd: toPosixPath(cwd),
        environment: { env: params.env, policy: params.envPolicy, toolCallId: params.metadata?.toolCallId },
        pipeStdin: params.pipeStdin,
        terminal: tty ? (params.size ?? DEFAULT_TERMINAL) : undefined,
        waitsForReader: params.whenFull === 'wait',
        confinement,
      },
      this,
    )
    this.#started = true
    const previous = this.#processes.get(processId)
    if (previous) this.#forget(previous)
    const hosted = new HostedProcess({ processId, argv, cwd, tty, startToken, push }, process)
    this.#processes.set(processId, hosted)
    if (push) this.#sink?.follow(processId, process.log, 1)
    void process.closed.then(() => this.#keepReceipt(hosted))
    return { processId, sandboxType }
  }

  async read(params: Params<'process/read'>, context: ReadContext): Promise<Result<'process/read'>> {
    const { process, description } = this.#find(params.processId)
    const { log } = process
    const result = await readOutput(log, params, context)
    if (context.signal.aborted) return result
    if (description.push && params.maxBytes === undefined && result.nextSeq < log.nextSeq) {
      this.#sink?.rewind(params.processId, log, result.nextSeq)
    }
    this.#sink?.continueFrom(params.processId, result.nextSeq)
    return result
  }

  write(
    params: Params<'process/write'>,
    signal: AbortSignal,
  ): Result<'process/write'> | Promise<Result<'process/write'>> {
    if (params.writeId === '') throw new ProtocolError(ErrorCode.invalidParams, 'writeId must not be empty')
    const hosted = this.#processes.get(params.processId)
    return hosted?.write(params.chunk, params.writeId, signal) ?? { status: 'unknownProcess' }
  }

  closeStdin({ processId }: Params<'process/closeStdin'>): Result<'process/closeStdin'> {
    const hosted = this.#processes.get(processId)
    if (!hosted) return { status: 'unknownProcess' }
    if (hosted.description.tty) {
      throw new ProtocolError(
        ErrorCode.invalidRequest,
        `process ${processId} has a terminal: write the byte 0x04 to it`,
      )
    }
    return { status: hosted.process.stdin?.end() ? 'accepted' : 'stdinClosed' }
  }

  signal({ processId, signal }: Params<'process/signal'>): Result<'process/signal'> {
    const known = this.#processes.get(processId)?.process.signal(signal === 'interrupt' ? 'SIGINT' : signal)
    if (known === false) throw new ProtocolError(ErrorCode.invalidParams, `this system has no signal ${signal}`)
    return {}
  }

  terminate({ processId, graceMs }: Params<'process/terminate'>): Result<'process/terminate'> {
    const starting = this.#starting.get(processId)
    if (starting) starting.cancelled = true
    return { running: this.#processes.get(processId)?.process.terminate('terminate', graceMs) ?? false }
  }

  resize({ processId, ...size }: Params<'process/resize'>): Result<'process/resize'> {
    if (!this.#find(processId).process.resize(size)) {
      throw new ProtocolError(ErrorCode.invalidRequest, `process ${processId} has no terminal`)
    }
    return {}
  }

  list({ processId }: Params<'process/list'>): Result<'process/list'> {
    const wanted = [...this.#processes.values()].filter(
      ({ description }) => processId === undefined || description.processId === processId,
    )
    return { processes: wanted.map((hosted) => hosted.summary()) }
  }

  /** Kills what runs and forgets the rest. */
  end(endedBy: ProcessExit['endedBy']): void {
    this.#ended = true
    this.watches.close()
    for (const hosted of this.#processes.values()) {
      if (hosted.process.terminate(endedBy)) void hosted.process.closed.then(() => this.#forget(hosted))
      else this.#forget(hosted)
    }
    if (this.#started) this.#machine.processes.host.killOrphansOf(this)
  }

  #find(processId: string): HostedProcess {
    const hosted = this.#processes.get(processId)
    if (!hosted) throw new ProtocolError(ErrorCode.invalidRequest, `unknown process id ${processId}`)
    return hosted
  }

  #keepReceipt(hosted: HostedProcess): void {
    if (this.#ended) return
    this.#receipts.add(hosted, () => this.#forget(hosted))
    if (this.#processes.size <= MAX_RECEIPTS) return
    const oldest = this.#processes.values().find(({ process }) => process.log.closedSeq !== undefined)
    if (oldest) this.#forget(oldest)
  }

  #forget(hosted: HostedProcess): void {
    const { processId } = hosted.description
    this.#receipts.remove(hosted)
    hosted.process.log.discard()
    if (this.#processes.get(processId) !== hosted) return
    this.#processes.delete(processId)
    this.#sink?.unfollow(processId)
  }
}

/** What no sandbox has to do with. */
function refuseContradictions(params: Params<'process/start'>): void {
  const invalid = (message: string) => new ProtocolError(ErrorCode.invalidParams, message)
  if (params.size && !params.tty) throw invalid('size needs tty: true')
  // Who is sent everything does not say how far it has read.
  if (params.whenFull === 'wait' && params.push) throw invalid('whenFull: wait needs push: false')
  if (params.whenFull === 'wait' && params.tty) throw invalid('whenFull: wait needs pipes: a terminal cannot wait')
  const scope = params.shellSnapshot && Buffer.byteLength(params.shellSnapshot.scopeId)
  if (scope !== undefined && (scope === 0 || scope > limits.shellSnapshotScopeBytes)) {
    throw invalid('shell snapshot scope must be non-empty and at most 256 bytes')
  }
}
