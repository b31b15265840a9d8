import { encodeError } from './message.ts'
import type { Transport, TransportEvents } from './transport.ts'

const METHOD_NOT_FOUND = -32601
/** Calls that wait for an answer at a time; others wait to be sent. */
const MAX_PENDING = 1024
const MAX_WAITING = 64 * 1024

/** The other side has answered, with a failure. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The connection ended before an answer came. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError'
}

interface Call {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export interface PeerEvents {
  notified(method: string, params: unknown): void
  /** Once. All calls have been rejected by then. */
  closed(reason: string): void
}

/** Our end of a connection: matches answers with calls, and hands on notifications. */
export class Peer implements TransportEvents {
  readonly #events: PeerEvents
  readonly #pending = new Map<number, Call>()
  readonly #waiting: (() => void)[] = []
  #transport: Transport | undefined
  #nextId = 1
  #closed: string | undefined

  constructor(events: PeerEvents) {
    this.#events = events
  }

  /** Why there will be no more answers; undefined as long as there may be. */
  get closedReason(): string | undefined {
    return this.#closed
  }

  /** From now on calls can be made. */
  attach(transport: Transport): void {
    this.#transport = transport
  }

  async call(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted()
    while (this.#pending.size >= MAX_PENDING && this.#closed === undefined) {
      if (this.#waiting.length >= MAX_WAITING) throw new Error(`more than ${MAX_WAITING} calls are waiting`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    if (this.#closed !== undefined) throw new ConnectionClosedError(this.#closed)
    const id = this.#nextId++
    return await new Promise<unknown>((resolve, reject) => {
      // The answer may still come; nobody is interested any more.
      const abort = () => settle(() => reject(signal!.reason))
      const settle = (act: () => void) => {
        signal?.removeEventListener('abort', abort)
        this.#pending.delete(id)
        this.#waiting.shift()?.()
        act()
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#pending.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      })
      this.#transport!.send(JSON.stringify({ id, method, params }))
    })
  }

  notify(method: string, params: object): void {
    if (this.#closed === undefined) this.#transport?.send(JSON.stringify({ method, params }))
  }

  received(text: string): void {
    let message: { id?: unknown; method?: unknown; params?: unknown; result?: unknown; error?: RemoteError }
    try {
      message = JSON.parse(text)
    } catch {
      // Where the next message begins cannot be known either.
      void this.#transport?.close()
      this.closed('the other side sent something that is not JSON')
      return
    }
    if (typeof message.method === 'string') {
      if (message.id === undefined) this.#events.notified(message.method, message.params)
      else this.#refuse(message.id, message.method)
      return
    }
    const call = this.#pending.get(message.id as number)
    if (message.error) call?.reject(new RemoteError(message.error.code, message.error.message))
    else call?.resolve(message.result)
  }

  closed(reason: string): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    for (const { reject } of [...this.#pending.values()]) reject(new ConnectionClosedError(reason))
    for (const proceed of this.#waiting.splice(0)) proceed()
    this.#events.closed(reason)
  }

  #refuse(id: unknown, method: string): void {
    const text = encodeError(JSON.stringify(id), METHOD_NOT_FOUND, `this client does not implement \`${method}\``)
    this.#transport?.send(text)
  }
}
