import { ExecError, type ExitVerdict, type Process, type ProcessEvent } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import type { EventHub } from '../events/event-hub.ts'
import type { ExecutionNetwork } from '../network/network-execution.ts'
import type { Retry } from '../orchestrator/orchestrate.ts'
import { HeadTailBuffer } from '../output/head-tail-buffer.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import { Utf8Splitter } from '../output/utf8-splitter.ts'
import type { Observation } from './command-run.ts'
import type { Ended } from './ended.ts'

/** What becomes of a process at the end of a turn, or of the conversation. */
export type Lifetime =
  /** It ends with the turn, or when that is interrupted. */
  | 'turn'
  /** It ends with the conversation. */
  | 'conversation'
  /** Only somebody who means it ends it. */
  | 'detached'

export interface SessionFacts {
  readonly id: number
  /** The call that started it: it stays its name in events, whoever looks at it later. */
  readonly callId: string
  readonly turnId: string
  readonly environmentId: string
  readonly command: string
  readonly argv: readonly string[]
  readonly cwd: PathUri
  readonly tty: boolean
  readonly lifetime: Lifetime
  readonly sandboxed: boolean
  readonly attempt: 1 | 2
}

export interface SessionOptions {
  readonly process: Process
  readonly log: ProcessLog
  readonly events: EventHub
  readonly now: () => number
  readonly network: ExecutionNetwork | undefined
}

const MAX_DELTAS = 10_000
/** What somebody else holds open after the end is not waited for. */
const TRAILING_OUTPUT_MS = 100

/** A process that a model has started, and everything that it has said. */
export class ExecSession {
  readonly facts: SessionFacts
  readonly log: ProcessLog
  readonly startedAt: number
  /** Set by the call that started it, if it may be tried again when its sandbox has denied it something. */
  retry: Retry<Observation> | undefined
  readonly #process: Process
  readonly #events: EventHub
  readonly #now: () => number
  readonly #network: ExecutionNetwork | undefined
  readonly #listeners = new Set<(event: ProcessEvent | undefined) => void>()
  readonly #splitter = new Utf8Splitter()
  readonly #transcript = new HeadTailBuffer()
  readonly #letGo = new AbortController()
  readonly #ended = Promise.withResolvers<Ended>()
  readonly #unread = new HeadTailBuffer()
  #droppedUnread = 0
  #taken = 0
  #dropped = 0
  #deltas = 0
  #exit: Extract<ProcessEvent, { type: 'exited' }> | undefined
  #isClosed = false
  #endedBy: string | undefined
  #isTold = false
  #turn: Promise<unknown> = Promise.resolve()
  #users = 0

  constructor(facts: SessionFacts, { process, log, events, now, network }: SessionOptions) {
    this.facts = facts
    this.log = log
    this.#process = process
    this.#events = events
    this.#now = now
    this.#network = network
    this.startedAt = now()
    const { id: sessionId, lifetime: _, ...told } = facts
    events.emit({ type: 'exec_begin', sessionId, ...told })
    void this.#follow()
  }

  /** Its exit code is known, or that it never will be. */
  get hasExited(): boolean {
    return this.#exit !== undefined || this.#isClosed
  }

  /** Nothing more will come. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves when it has ended, after everything it said was told. Never rejects. */
  get ended(): Promise<Ended> {
    return this.#ended.promise
  }

  get durationMs(): number {
    return this.#now() - this.startedAt
  }

  /** Somebody is waiting for it, or writing to it. */
  get isBusy(): boolean {
    return this.#users > 0
  }

  /** One at a time. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#users++
    const before = this.#turn
    const own = Promise.withResolvers<void>()
    this.#turn = own.promise
    await before
    try {
      return await work()
    } finally {
      this.#users--
      own.resolve()
    }
  }

  /** What it has said since the last time; and how much of that the executor could not keep until we read it. */
  takeUnread(): { readonly output: HeadTailBuffer; readonly offset: number; readonly droppedBytes: number } {
    const droppedBytes = this.#droppedUnread
    const offset = this.#taken
    const output = this.#unread.drain()
    this.#droppedUnread = 0
    this.#taken += output.totalBytes
    return { output, offset, droppedBytes }
  }

  /** Why it was not let where it wanted to, in words. */
  get networkDenial(): string | undefined {
    return this.#network?.denial()
  }

  /** Waits a moment for a denial that is told after the end. */
  async networkSettled(ms: number): Promise<void> {
    if (!this.#network || this.#network.denial() !== undefined) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stop()
        resolve()
      }
      const timer = setTimeout(done, ms)
      const stop = this.#network!.onDenied(done)
    })
  }

  /** Told of what happens; undefined when there is nothing more to come. */
  onEvent(listener: (event: ProcessEvent | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async write(chars: string, signal: AbortSignal): Promise<void> {
    await this.#process.write(chars, { signal })
  }

  async interrupt(signal: AbortSignal): Promise<void> {
    await this.#process.signal('interrupt', { signal })
  }

  /** Ends it and everything it has started. Resolves when that is done. */
  async kill(
    by: string,
    { graceMs, signalName }: { graceMs?: number; signalName?: `SIG${string}` } = {},
  ): Promise<void> {
    if (this.hasExited) return
    if (signalName !== undefined) return await this.#process.signal(signalName)
    const isFirst = this.#endedBy === undefined
    if (isFirst) this.#endedBy = by
    try {
      await this.#process.terminate(graceMs === undefined ? {} : { graceMs })
    } catch (error) {
      // It may live on, and end by itself.
      if (isFirst && !this.#isTold) this.#endedBy = undefined
      throw error
    }
    await this.#ended.promise
  }

  /** Nobody will ask for it any more. Output that others still write is not followed further. */
  letGo(): void {
    this.#letGo.abort(new Error('nobody follows it any more'))
    this.log.close()
  }

  async #follow(): Promise<void> {
    let trailing: ReturnType<typeof setTimeout> | undefined
    let lost: ExecError | Error | undefined
    try {
      for await (const event of this.#process.events({ signal: this.#letGo.signal })) {
        if (event.type === 'output') this.#take(event.data, event.droppedBytes ?? 0)
        else if (event.type === 'exited') {
          this.#exit = event
          trailing = setTimeout(() => void this.#end(undefined), TRAILING_OUTPUT_MS)
        } else this.#isClosed = true
        this.#tell(event)
      }
    } catch (error) {
      lost = ExecError.is(error) ? error : new Error(String((error as Error).message))
    }
    clearTimeout(trailing)
    this.#isClosed = true
    await this.#end(this.#exit ? undefined : lost)
    this.#tell(undefined)
  }

  #take(data: Uint8Array, dropped: number): void {
    this.#droppedUnread += dropped
    this.#dropped += dropped
    this.#unread.push(data)
    this.#transcript.push(data)
    this.log.push(data)
    if (this.#isTold) return
    for (const delta of this.#splitter.push(data)) this.#delta(delta)
  }

  #delta(data: Uint8Array): void {
    const { callId, turnId, id: sessionId } = this.facts
    if (this.#deltas++ < MAX_DELTAS) this.#events.emit({ type: 'exec_output', callId, turnId, sessionId, data })
  }

  /** Once: the end is told after the last output that came in time, and exactly one end for each begin. */
  async #end(lost: ExecError | Error | undefined): Promise<void> {
    if (this.#isTold) return
    this.#isTold = true
    for (const delta of this.#splitter.end()) this.#delta(delta)
    const exit = this.#exit
    const state = this.#endedBy !== undefined ? 'killed' : exit ? 'exited' : 'lost'
    const exitCode = exit?.exitCode ?? null
    const verdict: ExitVerdict = exit ? verdictOf(exit) : { sandboxDenied: false }
    const signal = exit && exit.exitCode > 128 ? await this.#signalName() : null
    const ended: Ended = {
      state,
      exitCode,
      signal,
      verdict,
      ...(this.#endedBy !== undefined && { endedBy: this.#endedBy }),
      ...(lost && { error: lost }),
    }
    const { callId, turnId, id: sessionId } = this.facts
    this.#events.emit({
      type: 'exec_end',
      callId,
      turnId,
      sessionId,
      state,
      exitCode: exitCode ?? -1,
      signal,
      ...(this.#endedBy !== undefined && { endedBy: this.#endedBy }),
      output: new TextDecoder().decode(this.#transcript.markedBytes()),
      omittedBytes: this.#transcript.omittedBytes + this.#dropped,
      durationMs: this.durationMs,
      denials: verdict.sandboxDenials ?? [],
    })
    this.#ended.resolve(ended)
  }

  /** A code above 128 may be a signal or not: only the executor knows. */
  async #signalName(): Promise<string | null> {
    if (!this.#isClosed) return null
    try {
      return (await this.#process.wait({ signal: this.#letGo.signal })).signal
    } catch {
      // Whoever cannot say more has said the code.
      return null
    }
  }

  #tell(event: ProcessEvent | undefined): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}

function verdictOf({
  type: _,
  seq: __,
  exitCode: ___,
  ...verdict
}: Extract<ProcessEvent, { type: 'exited' }>): ExitVerdict {
  return verdict
}
