import type { Socket } from 'node:net'
import { ExecError } from '@waldo/environment'
import type { Deadline } from './deadline.ts'
import { failureReason } from './failure-reason.ts'
import { type BodySource, ResponseBody } from './response-body.ts'
import { type ResponseHead, ResponseParser } from './response-parser.ts'

/** Bodies up to this size leave together with their head. */
const JOIN_BYTES = 16 * 1024

export interface EncodedRequest {
  readonly method: string
  readonly head: Uint8Array
  readonly body: Uint8Array | undefined
}

export interface Answer {
  readonly head: ResponseHead
  readonly body: ResponseBody
}

/** The server had closed a connection that was open for the next request, and has answered nothing. */
export class StaleConnectionError extends Error {}

interface Exchange {
  readonly parser: ResponseParser
  readonly body: ResponseBody
  readonly answered: PromiseWithResolvers<Answer>
  readonly deadline: Deadline
  begun: boolean
}

/** A socket to a server, with one request at a time on it. */
export class HttpConnection implements BodySource {
  readonly #socket: Socket
  readonly #onFree: (connection: HttpConnection, idleMs: number) => void
  readonly #abort = (reason: Error) => this.#fail(reason, true)
  #exchange: Exchange | undefined
  #served = 0

  /** `onFree` is called when a response has ended and the server lets another request follow. */
  constructor(socket: Socket, onFree: (connection: HttpConnection, idleMs: number) => void) {
    this.#socket = socket
    this.#onFree = onFree
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => this.#fail(error, false))
    socket.on('close', () => this.#fail(new Error('connection closed by the server'), false))
  }

  get alive(): boolean {
    return !this.#socket.destroyed && this.#socket.readable && this.#socket.writable
  }

  /** Whether the process stays alive for it. */
  hold(held: boolean): void {
    if (held) this.#socket.ref()
    else this.#socket.unref()
  }

  /** Sends a request. At its deadline the socket is destroyed, however far the response has come. */
  request({ method, head, body }: EncodedRequest, deadline: Deadline): Promise<Answer> {
    const answered = Promise.withResolvers<Answer>()
    this.#exchange = {
      parser: new ResponseParser(method),
      body: new ResponseBody(this),
      answered,
      deadline,
      begun: false,
    }
    deadline.tell(this.#abort)
    if (!this.alive) this.#fail(new Error('connection closed by the server'), false)
    else if (this.#exchange) this.#send(head, body)
    return answered.promise
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  abandon(): void {
    this.#abort(new Error('cancelled'))
  }

  destroy(): void {
    this.#fail(new Error('connection closed by the executor'), true)
    this.#socket.destroy()
  }

  #send(head: Uint8Array, body: Uint8Array = NO_BODY): void {
    if (body.length <= JOIN_BYTES) {
      this.#socket.write(body.length === 0 ? head : Buffer.concat([head, body]))
      return
    }
    this.#socket.write(head)
    this.#socket.write(body)
  }

  #receive(bytes: Buffer): void {
    const exchange = this.#exchange
    // Nobody has asked for it, so nobody may take it for an answer.
    if (!exchange) {
      this.destroy()
      return
    }
    const { parser, body, answered } = exchange
    exchange.begun = true
    let piece: Uint8Array | undefined
    let failure: Error | undefined
    try {
      piece = parser.push(bytes)
    } catch (error) {
      failure = error as Error
    }
    // Before the failure, which is then one of the body: the head may have come in the same bytes.
    if (parser.head) answered.resolve({ head: parser.head, body })
    if (piece) body.push(piece)
    if (failure) this.#fail(failure, false)
    else if (parser.done) this.#finish(exchange)
  }

  #ended(): void {
    const exchange = this.#exchange
    if (!exchange) {
      this.destroy()
      return
    }
    try {
      exchange.parser.end()
      this.#finish(exchange)
    } catch (error) {
      this.#fail(error as Error, false)
    }
  }

  #finish({ parser, body, deadline }: Exchange): void {
    this.#exchange = undefined
    deadline.tellNobody()
    body.end()
    this.#served++
    // A server that answers before it has read the whole request may take the rest of it for the next one.
    if (!parser.reusable || !this.alive || this.#socket.writableLength > 0) {
      this.destroy()
      return
    }
    // The last piece may have stopped it, and an idle connection must notice when the server closes it.
    if (this.#socket.isPaused()) this.#socket.resume()
    this.#onFree(this, parser.idleMs)
  }

  #fail(reason: Error, onPurpose: boolean): void {
    const exchange = this.#exchange
    if (!exchange) return
    this.#exchange = undefined
    exchange.deadline.tellNobody()
    this.#socket.destroy()
    const stale = this.#served > 0 && !exchange.begun && !onPurpose
    exchange.answered.reject(stale ? new StaleConnectionError(failureReason(reason), { cause: reason }) : reason)
    exchange.body.fail(
      new ExecError('HTTP_FAILED', `error decoding response body: ${failureReason(reason)}`, { cause: reason }),
      onPurpose,
    )
  }
}

const NO_BODY = new Uint8Array()
