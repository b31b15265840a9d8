import { encodeError, encodeResult, type IdText } from './message.ts'
import type { Transport, TransportEvents } from './transport.ts'

const METHOD_NOT_FOUND = -32601
const INTERNAL = -32603
/** Calls that wait for an answer at a time; others wait to be sent. */
const MAX_PENDING = 1024
const MAX_WAITING = 64 * 1024
/** Questions of the other side that are being answered at a time. */
const MAX_QUESTIONS = 256
/** What no executor takes: it would hang up, and the call would be made again, and again. */
const MAX_MESSAGE_CHARACTERS = 64 * 1024 * 1024

/** The other side has answered, with a failure. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: number
  /** Whatever it has to say besides. */
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The connection ended before an answer came. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError'
}

/** The call was not made: there is too much of it, or too many are waiting. */
export class CallLimitError extends Error {
  override readonly name = 'CallLimitError'
}

interface Call {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export interface PeerEvents {
  notified(method: string, params: unknown): void
  /**
   * Undefined: such a thing is never answered here. A rejection is told as a failure. `signal` aborts with the connection,
   * on which alone the answer makes sense.
   */
  asked?(method: string, params: unknown, signal: AbortSignal): Promise<object> | undefined
  /** Once. All calls have been rejected by then. */
  closed(reason: string): void
}

/** Our end of a connection: matches answers with calls, and hands on notifications and questions. */
export class Peer implements TransportEvents {
  readonly #events: PeerEvents
  readonly #pending = new Map<number, Call>()
  readonly #waiting: (() => void)[] = []
  readonly #questions = new Set<AbortController>()
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
    while (this.#pending.size >= MAX_PENDING && this.#closed === undefined) await this.#turn(signal)
    if (this.#closed !== undefined) throw new ConnectionClosedError(this.#closed)
    const id = this.#nextId++
    const text = JSON.stringify({ id, method, params })
    if (text.length > MAX_MESSAGE_CHARACTERS) {
      this.#waiting.shift()?.()
      throw new CallLimitError(`${method} is larger than ${MAX_MESSAGE_CHARACTERS} bytes, which no executor takes`)
    }
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
      this.#transport!.send(text)
    })
  }

  notify(method: string, params: object): void {
    if (this.#closed === undefined) this.#transport?.send(JSON.stringify({ method, params }))
  }

  /** Nobody is interested in what was asked so far. New calls can still be made. */
  abandon(reason: string): void {
    for (const { reject } of [...this.#pending.values()]) reject(new ConnectionClosedError(reason))
  }

  received(text: string): void {
    const message = parse(text)
    if (message === undefined) {
      this.#breakOff('the other side sent something that is not a JSON object')
      return
    }
    const { id, method, error } = message
    if (typeof method === 'string') {
      if (id === undefined) this.#notified(method, message.params)
      else this.#answer(JSON.stringify(id), method, message.params)
      return
    }
    const call = this.#pending.get(id as number)
    if (typeof error !== 'object' || error === null) call?.resolve(message.result)
    else call?.reject(new RemoteError(Number(error.code), String(error.message), error.data))
  }

  closed(reason: string): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    this.abandon(reason)
    for (const proceed of this.#waiting.splice(0)) proceed()
    const questions = [...this.#questions]
    this.#questions.clear()
    for (const question of questions) question.abort(new ConnectionClosedError(reason))
    this.#events.closed(reason)
  }

  /** Resolves when another call has been answered. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) throw new CallLimitError(`more than ${MAX_WAITING} calls are waiting`)
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1)
        reject(signal!.reason)
      }
      this.#waiting.push(proceed)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  #notified(method: string, params: unknown): void {
    try {
      this.#events.notified(method, params)
    } catch (error) {
      this.#breakOff(`the other side sent a ${method} that makes no sense: ${(error as Error).message}`)
    }
  }

  /** What has been missed cannot be known, so nothing that follows can be trusted. */
  #breakOff(reason: string): void {
    void this.#transport?.close()
    this.closed(reason)
  }

  #answer(id: IdText, method: string, params: unknown): void {
    if (this.#closed !== undefined) return
    if (this.#questions.size >= MAX_QUESTIONS) {
      this.#transport?.send(encodeError(id, INTERNAL, `${MAX_QUESTIONS} questions are being answered already`))
      return
    }
    const question = new AbortController()
    const answer = this.#events.asked?.(method, params, question.signal)
    if (!answer) {
      this.#transport?.send(encodeError(id, METHOD_NOT_FOUND, `this client does not implement \`${method}\``))
      return
    }
    this.#questions.add(question)
    void answer
      .then((result) => encodeResult(id, result))
      .catch((error: Error) => encodeError(id, INTERNAL, error.message))
      .then((text) => {
        // Nobody waits for it any more where the connection has ended.
        if (this.#questions.delete(question)) this.#transport?.send(text)
      })
  }
}

interface Incoming {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown } | null
}

function parse(text: string): Incoming | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined // What exactly is wrong with it helps nobody.
  }
}
