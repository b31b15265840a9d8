import { abortable, type CallOptions, ExecError, type ProcessEvent } from '@waldo/environment'
import { deferred } from './deferred.ts'
import type { EventSource, ProcessEnd } from './event-source.ts'
import { exitVerdict } from './exit-verdict.ts'

/** What is kept for readers. */
const KEPT_BYTES = 8 * 1024 * 1024
/** With more than this that a reader has not read yet, the whole connection has to wait. */
const UNREAD_BYTES = 4 * 1024 * 1024
/** Where the connection cannot wait, more than this unread is a reader that will never catch up. */
const MAX_BYTES = 64 * 1024 * 1024
/** Events that came before their turn. */
const MAX_EARLY = 4096
const MAX_EARLY_BYTES = 8 * 1024 * 1024

interface Reader {
  next: number
  wake: (() => void) | undefined
}

/**
 * Events that come whether or not we want them, from an executor that keeps little of them itself. So they are kept
 * here, in order, as many as we can afford; and as long as somebody is far behind, we take nothing more in.
 */
export class PushedEvents implements EventSource {
  readonly #hold: (hold: boolean) => void
  readonly #early = new Map<number, ProcessEvent>()
  readonly #readers = new Set<Reader>()
  readonly #closed = deferred<void>()
  #events: ProcessEvent[] = []
  #first = 1
  #bytes = 0
  #earlyBytes = 0
  #exit: ProcessEnd | undefined
  #holding = false
  #failure: ExecError | undefined

  /** `hold` stops the connection, or lets it go on. */
  constructor(hold: (hold: boolean) => void) {
    this.#hold = hold
    this.#closed.promise.catch(() => {}) // Whoever waits is told; nobody has to.
  }

  /** The number of the last event that has come. */
  get last(): number {
    return this.#first + this.#events.length - 1
  }

  get exitSeen(): boolean {
    return this.#exit !== undefined
  }

  get isClosed(): boolean {
    return this.#events.at(-1)?.type === 'closed'
  }

  add(event: ProcessEvent): void {
    if (event.seq <= this.last || this.#early.has(event.seq) || this.isClosed || this.#failure) return
    if (event.seq > this.last + 1) {
      this.#early.set(event.seq, event)
      this.#earlyBytes += sizeOf(event)
      if (this.#early.size > MAX_EARLY || this.#earlyBytes > MAX_EARLY_BYTES) {
        this.lost(new ExecError('PROCESS_LOST', `event ${this.last + 1} is missing, and too many came after it`))
      }
      return
    }
    this.#append(event)
    for (let next = this.#early.get(this.last + 1); next; next = this.#early.get(this.last + 1)) {
      this.#early.delete(next.seq)
      this.#earlyBytes -= sizeOf(next)
      this.#append(next)
    }
    this.#balance()
    if (this.#bytes > MAX_BYTES) {
      this.lost(new ExecError('PROCESS_LOST', 'its output came faster than it was read, and could not be held back'))
    }
    for (const reader of this.#readers) reader.wake?.()
  }

  async *events(after: number, { signal }: CallOptions): AsyncGenerator<ProcessEvent> {
    // Whoever wants everything gets what is still kept; whoever has a place must not lose it without knowing.
    const reader: Reader = { next: after === 0 ? this.#first : after + 1, wake: undefined }
    this.#readers.add(reader)
    try {
      for (;;) {
        signal?.throwIfAborted()
        if (reader.next < this.#first) {
          throw new ExecError('PROCESS_LOST', `events ${reader.next} to ${this.#first - 1} are no longer kept`)
        }
        const event = this.#events[reader.next - this.#first]
        if (event) {
          reader.next++
          this.#balance()
          yield event
          if (event.type === 'closed') return
        } else if (this.#failure) throw this.#failure
        else {
          await abortable(
            new Promise<void>((resolve) => {
              reader.wake = resolve
            }),
            signal,
          )
        }
      }
    } finally {
      this.#readers.delete(reader)
      this.#balance()
    }
  }

  async ended({ signal }: CallOptions): Promise<ProcessEnd> {
    await abortable(this.#closed.promise, signal)
    return this.#exit ?? { exitCode: -1, sandboxDenied: false }
  }

  lost(error: ExecError): void {
    if (this.isClosed || this.#failure) return
    this.#failure = error
    this.#closed.reject(error)
    this.#early.clear()
    for (const reader of this.#readers) reader.wake?.()
    this.#balance()
  }

  #append(event: ProcessEvent): void {
    this.#events.push(event)
    this.#bytes += sizeOf(event)
    if (event.type === 'exited') this.#exit = { exitCode: event.exitCode, ...exitVerdict(event) }
    if (event.type === 'closed') this.#closed.resolve()
  }

  #balance(): void {
    const slowest = Math.min(...[...this.#readers].map(({ next }) => next))
    let drop = 0
    while (this.#bytes > KEPT_BYTES && this.#first + drop < slowest && drop < this.#events.length) {
      this.#bytes -= sizeOf(this.#events[drop++]!)
    }
    if (drop > 0) {
      this.#events.splice(0, drop)
      this.#first += drop
    }
    const unread = Number.isFinite(slowest) ? this.#bytesFrom(slowest) : 0
    const hold = unread > UNREAD_BYTES && !this.isClosed && !this.#failure
    if (hold === this.#holding) return
    this.#holding = hold
    this.#hold(hold)
  }

  #bytesFrom(seq: number): number {
    // Exact only where it matters: while there is less than the limit in all, nobody has to be counted.
    if (this.#bytes <= UNREAD_BYTES) return this.#bytes
    let bytes = 0
    for (let index = seq - this.#first; index < this.#events.length; index++) bytes += sizeOf(this.#events[index]!)
    return bytes
  }
}

function sizeOf(event: ProcessEvent): number {
  return event.type === 'output' ? event.data.length + 64 : 64
}
