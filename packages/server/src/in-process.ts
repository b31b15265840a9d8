import type { Connect, Transport, TransportEvents } from '@waldo/rpc'
import type { Connection } from './connection.ts'
import { Executor, type ServeOptions } from './serve.ts'
import { joinParts, type TextParts, type Wire } from './wire.ts'

export type InProcessOptions = Pick<ServeOptions, 'stateDir' | 'program' | 'version' | 'warn'>

const HOUR_MS = 3_600_000
const MiB = 1024 * 1024

/** An executor in this very process: the same code as behind a socket, and messages that never become bytes. */
export function connectInProcess(options: InProcessOptions): Connect {
  return async (events) => {
    const executor = new Executor({
      ...options,
      listen: [],
      authenticate: undefined,
      tls: undefined,
      insecure: false,
      secretFiles: [],
      detachedTtlMs: 0,
      receiptTtlMs: HOUR_MS,
      logQuotaBytes: 256 * MiB,
      logDiskBytes: 1024 * MiB,
      http: { mode: 'allow', allow: [] },
      inProcess: true,
    })
    const wire = new InProcessWire(events)
    const connection = executor.connect(wire, true)
    return new InProcessTransport(executor, connection, wire)
  }
}

/** The executor's end. */
class InProcessWire implements Wire {
  readonly peer = 'this process'
  readonly name = 'this process'
  readonly canPing = false
  readonly #events: TransportEvents
  readonly #unread: string[] = []
  #unreadBytes = 0
  #scheduled = false
  /** The client takes nothing. */
  paused = false
  closed = false
  onDrained: () => void = () => {}
  onClosed: () => void = () => {}

  constructor(events: TransportEvents) {
    this.#events = events
  }

  get queuedBytes(): number {
    return this.#unreadBytes
  }

  send(message: string | TextParts): void {
    const text = typeof message === 'string' ? message : joinParts(message)
    this.#unread.push(text)
    this.#unreadBytes += text.length
    this.deliver()
  }

  /** Not at once: whoever sends is not prepared to be called back meanwhile. */
  deliver(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      while (!this.paused && !this.closed) {
        const text = this.#unread.shift()
        if (text === undefined) break
        this.#unreadBytes -= text.length
        this.#events.received(text)
      }
      if (this.#unreadBytes === 0 && !this.closed) this.onDrained()
    })
  }

  ping(): void {}

  batch(sends: () => void): void {
    sends()
  }

  // Whoever calls waits for answers; there is nothing else that could be held back.
  pauseReading(): void {}
  resumeReading(): void {}

  close(_code: number, reason: string): void {
    // After what was sent before.
    queueMicrotask(() => this.#end(reason))
  }

  terminate(): void {
    this.#end('terminated')
  }

  #end(reason: string): void {
    if (this.closed) return
    this.closed = true
    this.onClosed()
    this.#events.closed(reason)
  }
}

/** The client's end. */
class InProcessTransport implements Transport {
  readonly queuedBytes = 0
  readonly #connection: Connection
  readonly #wire: InProcessWire
  #stopped: Promise<void> | undefined

  constructor(executor: Executor, connection: Connection, wire: InProcessWire) {
    this.#connection = connection
    this.#wire = wire
    wire.onDrained = () => connection.drained()
    // Whoever ends it: an executor without its only client is of no use.
    wire.onClosed = () => {
      connection.closed()
      this.#stopped = executor.stop(0)
    }
  }

  send(text: string): void {
    queueMicrotask(() => {
      if (!this.#wire.closed) this.#connection.received(text)
    })
  }

  pauseReading(): void {
    this.#wire.paused = true
  }

  resumeReading(): void {
    this.#wire.paused = false
    this.#wire.deliver()
  }

  async close(): Promise<void> {
    this.#wire.terminate()
    await this.#stopped
  }
}
