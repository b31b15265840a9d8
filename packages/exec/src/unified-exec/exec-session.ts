import { ExecError, type ExitVerdict, type Process, type ProcessEvent } from '@waldo/environment'
import type { EventHub } from '../events/event-hub.ts'
import type { ExecutionNetwork } from '../network/network-execution.ts'
import type { Retry } from '../orchestrator/orchestrate.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import type { Ended } from './ended.ts'
import { inTime } from './in-time.ts'
import type { Observation } from './observation.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { SessionFacts } from './session-facts.ts'
import { SessionOutput } from './session-output.ts'

export interface SessionOptions {
  readonly process: Process
  readonly log: ProcessLog
  readonly events: EventHub
  readonly now: () => number
  readonly network: ExecutionNetwork | undefined
  /** Whether what happens there gets here, as far as we know. */
  readonly isReachable: () => boolean
}

type Exited = Extract<ProcessEvent, { type: 'exited' }>

/** What somebody else holds open after the end is not waited for. */
const TRAILING_OUTPUT_MS = 50
/** How long an executor may take to end something, or to say how it ended. It may not be within reach. */
const KILL_MS = 10_000
const SIGNAL_NAME_MS = 1000

/** A process that a model has started, and everything that it has said. */
export class ExecSession {
  readonly facts: SessionFacts
  readonly output: SessionOutput
  /** Set by the call that started it, if it may be tried again when its sandbox has denied it something. */
  retry: Retry<Observation> | undefined
  /** Whether a model was told how it ended. */
  endWasTold = false
  /** Resolves when it has ended, after everything it said was told. Never rejects. */
  readonly ended: Promise<Ended>
  readonly #options: SessionOptions
  readonly #startedAt: number
  readonly #listeners = new Set<(event: ProcessEvent | undefined) => void>()
  readonly #users = new OneAtATime()
  readonly #letGo = new AbortController()
  #resolveEnded!: (ended: Ended) => void
  #exit: Exited | undefined
  #isClosed = false
  #endedBy: string | undefined
  #endedAt: number | undefined

  constructor(facts: SessionFacts, options: SessionOptions) {
    const { id: sessionId, lifetime: _, ...told } = facts
    const { callId, turnId } = facts
    const { events } = options
    this.facts = facts
    this.#options = options
    this.#startedAt = options.now()
    this.output = new SessionOutput(options.log, (data) => {
      events.emit({ type: 'exec_output', callId, turnId, sessionId, data })
    })
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
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

  get isReachable(): boolean {
    return this.#options.isReachable()
  }

  /** Until now, or until its end. */
  get durationMs(): number {
    return (this.#endedAt ?? this.#options.now()) - this.#startedAt
  }

  /** Somebody is waiting for it, or writing to it. */
  get isBusy(): boolean {
    return this.#users.isBusy
  }

  /** One at a time. Rejects if the signal aborts before it is its turn. */
  async exclusively<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return await this.#users.run(work, signal)
  }

  /** Resolves when nobody waits for it or writes to it. */
  async idle(): Promise<void> {
    await this.#users.idle()
  }

  /** What decides where it may go, if somebody does. */
  get network(): ExecutionNetwork | undefined {
    return this.#options.network
  }

  /** Told of what happens; undefined when there is nothing more to come. */
  onEvent(listener: (event: ProcessEvent | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async write(chars: string, signal: AbortSignal): Promise<void> {
    await this.#options.process.write(chars, { signal })
  }

  async interrupt(signal: AbortSignal): Promise<void> {
    await this.#options.process.signal('interrupt', { signal })
  }

  /** Ends it and everything it has started. Resolves when that is done; the executor has to be within reach for that. */
  async kill(by: string, { graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    if (this.hasExited) return
    const isFirst = this.#endedBy === undefined
    if (isFirst) this.#endedBy = by
    const told = this.#options.process.terminate(graceMs > 0 ? { graceMs } : {}).catch((error) => {
      // It may live on, and end by itself.
      if (isFirst && !this.hasExited) this.#endedBy = undefined
      throw error
    })
    await inTime(
      told.then(() => this.ended),
      graceMs + KILL_MS,
      () => new ExecError('DISCONNECTED', 'the executor does not answer; it is told as soon as it can be reached'),
    )
  }

  /** Nobody will ask for it any more. Output that others still write is not followed further, nor one that lives on. */
  letGo(): void {
    this.#letGo.abort(new Error('nobody follows it any more'))
    this.output.log.close()
  }

  async #follow(): Promise<void> {
    let trailing: ReturnType<typeof setTimeout> | undefined
    let lost: Error | undefined
    try {
      for await (const event of this.#options.process.events({ signal: this.#letGo.signal })) {
        if (event.type === 'output') this.output.push(event.data, event.droppedBytes ?? 0)
        else if (event.type === 'exited') {
          this.#exit = event
          trailing = setTimeout(() => void this.#end(undefined), TRAILING_OUTPUT_MS)
        } else this.#isClosed = true
        this.#tell(event)
      }
    } catch (error) {
      lost = error as Error
    }
    clearTimeout(trailing)
    // One that was let go of lives on: its end is nothing that we know of, so it is not told.
    if (!this.#letGo.signal.aborted || this.#exit) {
      this.#isClosed = true
      await this.#end(lost)
    }
    this.#tell(undefined)
  }

  /** Once: the end is told after the last output that came in time, and exactly one end for each begin. */
  async #end(lost: Error | undefined): Promise<void> {
    if (this.#endedAt !== undefined) return
    this.#endedAt = this.#options.now()
    const exit = this.#exit
    const exitCode = exit?.exitCode ?? null
    const signal = exit && exit.exitCode > 128 ? await this.#signalName() : null
    const state = !exit ? 'lost' : this.#endedBy === undefined ? 'exited' : 'killed'
    const why = this.#endedBy === undefined ? {} : { endedBy: this.#endedBy }
    const verdict = exit ? verdictOf(exit) : { sandboxDenied: false }
    const { callId, turnId, id: sessionId } = this.facts
    this.#options.events.emit({
      type: 'exec_end',
      callId,
      turnId,
      sessionId,
      state,
      exitCode: exitCode ?? -1,
      signal,
      ...why,
      ...this.output.end(),
      durationMs: this.durationMs,
      denials: verdict.sandboxDenials ?? [],
    })
    this.#resolveEnded({ state, exitCode, signal, verdict, ...why, ...(!exit && lost && { error: lost }) })
  }

  /** A code above 128 may be a signal or not: only the executor knows, once nobody holds the output any more. */
  async #signalName(): Promise<string | null> {
    if (!this.#isClosed) return null
    try {
      const { process } = this.#options
      const asked = process.wait({ signal: this.#letGo.signal })
      return (await inTime(asked, SIGNAL_NAME_MS, () => new Error('nobody says which'))).signal
    } catch {
      // Whoever cannot say more has said the code.
      return null
    }
  }

  #tell(event: ProcessEvent | undefined): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}

function verdictOf({ type: _, seq: __, exitCode: ___, ...verdict }: Exited): ExitVerdict {
  return verdict
}
