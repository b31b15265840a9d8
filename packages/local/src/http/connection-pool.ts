import type { HttpConnection } from './http-connection.ts'

/** Each holds a descriptor. */
const MAX_IDLE = 64
/** Fewer than a client has in flight to one origin, and it dials anew for the others each time. */
const MAX_IDLE_PER_ORIGIN = 32
const IDLE_MS = 10_000
/** Before the server says that it will close, so that a request does not cross its farewell on the way. */
const MARGIN_MS = 1_000

interface Idle {
  readonly origin: string
  readonly connection: HttpConnection
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Connections that wait for another request to the same origin: scheme, host and port. The policy has agreed to all of
 * that, and to the address behind it, when the connection was made, and does not change. None of them keeps the process
 * alive. When there are too many, the one that waits longest goes.
 */
export class ConnectionPool {
  /** Oldest first. */
  readonly #idle: Idle[] = []
  #closed = false

  /** The connection that was used last, as it is the least likely to be closed by now. */
  take(origin: string): HttpConnection | undefined {
    for (;;) {
      const index = this.#idle.findLastIndex((idle) => idle.origin === origin)
      if (index < 0) return undefined
      const connection = this.#remove(index)
      if (!connection.alive) continue
      connection.hold(true)
      return connection
    }
  }

  put(origin: string, connection: HttpConnection, serverIdleMs: number): void {
    const idleMs = Math.min(IDLE_MS, serverIdleMs - MARGIN_MS)
    if (this.#closed || idleMs <= 0) {
      connection.destroy()
      return
    }
    if (this.#idle.filter((idle) => idle.origin === origin).length >= MAX_IDLE_PER_ORIGIN) {
      this.#remove(this.#idle.findIndex((idle) => idle.origin === origin)).destroy()
    }
    if (this.#idle.length >= MAX_IDLE) this.#remove(0).destroy()
    connection.hold(false)
    const timer = setTimeout(() => this.#remove(this.#idle.indexOf(idle)).destroy(), idleMs)
    timer.unref()
    const idle: Idle = { origin, connection, timer }
    this.#idle.push(idle)
  }

  /** Destroys what waits, and whatever comes back later. */
  close(): void {
    this.#closed = true
    while (this.#idle.length > 0) this.#remove(0).destroy()
  }

  #remove(index: number): HttpConnection {
    const [idle] = this.#idle.splice(index, 1)
    clearTimeout(idle!.timer)
    return idle!.connection
  }
}
