import {
  type CallOptions,
  ExecError,
  type Process,
  type ProcessEvent,
  type Processes,
  type StartOptions,
} from '@waldo/environment'
import {
  decodeBase64,
  type EnvironmentInfo,
  type ProcessExited,
  type ProcessListResult,
  type ProcessOutput,
  type ProcessReadResult,
  type ProcessSummary,
} from '@waldo/protocol'
import { RemoteError } from '@waldo/rpc'
import type { EventSource } from './event-source.ts'
import type { ExecSession, SessionCallOptions } from './exec-session.ts'
import { exitVerdict } from './exit-verdict.ts'
import type { LiveConnection } from './live-connection.ts'
import { eventsOfPage } from './page-events.ts'
import { PulledEvents } from './pulled-events.ts'
import { PushedEvents } from './pushed-events.ts'
import { RemoteProcess } from './remote-process.ts'
import { startParams } from './start-params.ts'

export class RemoteProcesses implements Processes {
  readonly #session: ExecSession
  readonly #cwd: string | undefined

  /** `cwd` is where processes start if nothing else is said. */
  constructor(session: ExecSession, cwd: string | undefined) {
    this.#session = session
    this.#cwd = cwd
  }

  async start(argv: readonly string[], options: StartOptions = {}): Promise<Process> {
    const { sessionId, info } = await this.#session.live(options)
    const id = options.id ?? crypto.randomUUID()
    const { networks } = this.#session
    // What runs under this id must not get another decider, not even until the executor has refused.
    if (networks.has(id)) throw new ExecError('REFUSED', `process ${id} already exists`)
    const params = startParams({ id, argv, options, cwd: this.#cwd }, info)
    const call = this.#callsWithin(sessionId)
    const { source, stop } = this.#listen(id, info, call)
    // It may want to go out before we know that it runs.
    const forget = options.network && networks.add(id, options.network)
    try {
      const canRepeat = info.capabilities?.processStartToken === true
      await call('process/start', params, { signal: options.signal, resend: canRepeat })
    } catch (error) {
      stop()
      forget?.()
      // Whether it runs is not known; it must not run on without anybody who knows of it.
      if (ExecError.is(error, 'DISCONNECTED') || options.signal?.aborted) {
        void call('process/terminate', { processId: id }, { resend: true }).catch(() => {})
      }
      throw error
    }
    // However it ends: whoever waits for it is told, and nobody has to.
    if (forget) void source.ended({}).then(forget, forget)
    return new RemoteProcess({ id, argv, source, call, capabilities: info.capabilities ?? {} })
  }

  async list(options: CallOptions = {}): Promise<ProcessSummary[]> {
    const result = await this.#session.call('process/list', {}, { ...options, resend: true })
    return (result as ProcessListResult).processes
  }

  /** A process belongs to its session: in another one its id means nothing, or something else. */
  #callsWithin(sessionId: string) {
    return async (method: string, params: object, options: SessionCallOptions): Promise<unknown> =>
      await this.#session.call(method, params, { ...options, sessionId })
  }

  #listen(
    id: string,
    info: EnvironmentInfo,
    call: (method: string, params: object, options: SessionCallOptions) => Promise<unknown>,
  ): { source: EventSource; stop: () => void } {
    if (info.capabilities?.processPull) {
      const source = new PulledEvents(async (question, options) => {
        const page = await call('process/read', { processId: id, ...question }, { ...options, resend: true })
        if (Array.isArray((page as Partial<ProcessReadResult> | null)?.chunks)) return page as ProcessReadResult
        throw new ExecError('INTERNAL', 'the executor answered process/read with something else')
      })
      return { source, stop: () => {} }
    }
    return this.#listenToPushes(id)
  }

  #listenToPushes(id: string): { source: EventSource; stop: () => void } {
    const source: PushedEvents = new PushedEvents((hold) => this.#session.hold(source, hold))
    const unroute = this.#session.notifications.route(`process ${id}`, (method, params) => {
      source.add(eventOf(method, params))
      if (source.isClosed) stop()
    })
    const leave = this.#session.join({
      resumed: (live) => recover(id, source, live),
      lost: (error) => source.lost(error),
      leaving: ({ peer }, signal) => peer.call('process/terminate', { processId: id }, signal),
    })
    const stop = () => {
      unroute()
      leave()
    }
    return { source, stop }
  }
}

function eventOf(method: string, params: ProcessOutput & ProcessExited): ProcessEvent {
  const { seq } = params
  if (!Number.isSafeInteger(seq) || seq < 1) throw new Error(`an event has the number ${seq}`)
  switch (method) {
    case 'process/output':
      return {
        type: 'output',
        seq,
        stream: params.stream,
        data: decodeBase64(params.chunk),
        ...(params.droppedBytes !== undefined && { droppedBytes: params.droppedBytes }),
      }
    case 'process/exited':
      return { type: 'exited', seq, exitCode: params.exitCode, ...exitVerdict(params) }
    default:
      return { type: 'closed', seq }
  }
}

/** Fetches what happened while the wire was cut, as far as the executor still has it. */
async function recover(processId: string, source: PushedEvents, { peer }: LiveConnection): Promise<void> {
  try {
    const page = (await peer.call('process/read', { processId, afterSeq: source.last, waitMs: 0 })) as ProcessReadResult
    for (const event of [...eventsOfPage(page, source.last, source.exitSeen)]) source.add(event)
  } catch (error) {
    const gone = error instanceof RemoteError || (error as Error).message.includes('no longer kept')
    if (!gone) throw error
    const why = `failed to recover process ${processId}: ${(error as Error).message}`
    source.lost(new ExecError('PROCESS_LOST', why, { cause: error }))
    void peer.call('process/terminate', { processId }).catch(() => {})
  }
}
