import { ExecError } from '@waldo/environment'
import { ConnectionPool } from './connection-pool.ts'
import { Deadline } from './deadline.ts'
import { type Destination, type DialOptions, dial } from './dial.ts'
import { failureReason } from './failure-reason.ts'
import { type Answer, HttpConnection, StaleConnectionError } from './http-connection.ts'
import { checkRequest, encodeHead, type OutgoingRequest } from './outgoing-request.ts'
import { redirect } from './redirect.ts'
import type { HttpHeader } from './resolve-headers.ts'

const MAX_REDIRECTS = 10
/** Each holds a descriptor. */
const MAX_REQUESTS = 512
/** A second time does no more than the first, so they may be sent again when it is not known whether they arrived. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly HttpHeader[]
  readonly body: Uint8Array | undefined
  readonly redirects: 'follow' | 'stop'
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case, in order and with repeats; values that are not text are left out. */
  readonly headers: HttpHeader[]
  /** The next piece of the body as soon as it comes, undefined at the end. While nobody reads, the server waits. */
  read(): Promise<Uint8Array | undefined>
  /** Gives up what has not been read. */
  cancel(): void
}

/**
 * Makes HTTP/1.1 requests that say what they were told to say: headers in their order and with their repeats, bodies as
 * they are. It sends `host`, `accept`, `content-length` and, for a URL with userinfo, `authorization` where the caller
 * does not; no cookies, no user agent. Every response is a success, whatever its status.
 *
 * Failures are `HTTP_INVALID` (the request), `HTTP_DENIED` (the policy) and `HTTP_FAILED` (the network or the server).
 */
export class HttpClient {
  readonly #options: DialOptions
  readonly #pool = new ConnectionPool()
  readonly #underWay = new Set<Deadline>()
  #closed = false

  constructor(options: DialOptions) {
    this.#options = options
  }

  /**
   * Ends with the head of the response. A response must be read to its end or cancelled. The deadline is for the whole
   * exchange, redirects and body included.
   */
  async request(request: HttpRequest, deadline = new Deadline()): Promise<HttpResponse> {
    let url: URL | undefined
    try {
      this.#begin(deadline)
      for (let hop = checkRequest(request), redirects = 0; ; redirects++) {
        url = hop.url
        deadline.throwIfAborted()
        const encoded = { method: hop.method, head: encodeHead(hop), body: hop.body }
        const kept = this.#pool.take(url.origin)
        let answer: Answer
        try {
          answer = await (kept ?? (await this.#connect(url, deadline))).request(encoded, deadline)
        } catch (error) {
          if (!(error instanceof StaleConnectionError) || !IDEMPOTENT.has(hop.method)) throw error
          answer = await (await this.#connect(url, deadline)).request(encoded, deadline)
        }
        const next = request.redirects === 'follow' ? this.#next(hop, answer) : undefined
        if (!next) return this.#response(answer, deadline)
        answer.body.cancel()
        if (redirects === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`)
        hop = next
      }
    } catch (error) {
      this.#end(deadline)
      if (ExecError.is(error)) throw error
      const message = `error sending request for url (${url?.href}): ${failureReason(error)}`
      throw new ExecError('HTTP_FAILED', message, { cause: error })
    }
  }

  /** Ends everything that is under way. */
  close(): void {
    this.#closed = true
    for (const deadline of [...this.#underWay]) deadline.abort(new Error('the executor is shutting down'))
    this.#pool.close()
  }

  #begin(deadline: Deadline): void {
    if (this.#closed) throw new ExecError('HTTP_FAILED', 'the executor is shutting down')
    if (this.#underWay.size >= MAX_REQUESTS) {
      throw new ExecError('HTTP_FAILED', `${MAX_REQUESTS} requests are under way; wait until some have ended`)
    }
    this.#underWay.add(deadline)
  }

  #end(deadline: Deadline): void {
    deadline.clear()
    this.#underWay.delete(deadline)
  }

  async #connect(url: URL, deadline: Deadline): Promise<HttpConnection> {
    const { origin } = url
    const socket = await dial(destination(url), this.#options, deadline)
    return new HttpConnection(socket, (free, idleMs) => this.#pool.put(origin, free, idleMs))
  }

  #next(hop: OutgoingRequest, answer: Answer): OutgoingRequest | undefined {
    try {
      return redirect(hop, answer.head)
    } catch (error) {
      answer.body.cancel()
      throw error
    }
  }

  #response({ head, body }: Answer, deadline: Deadline): HttpResponse {
    // Not when the reader is done: a body that has come is no longer anybody's business but the reader's.
    body.whenSettled(() => this.#end(deadline))
    return { status: head.status, headers: head.headers, read: () => body.read(), cancel: () => body.cancel() }
  }
}

function destination({ protocol, hostname, port }: URL): Destination {
  const tls = protocol === 'https:'
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (tls ? 443 : 80) : Number(port), tls }
}
