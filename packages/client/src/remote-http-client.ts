import {
  type CallOptions,
  ExecError,
  type HttpClient,
  type HttpHeader,
  type HttpRequestOptions,
  type HttpResponse,
} from '@waldo/environment'
import { decodeBase64, type HttpBodyDelta, type Result } from '@waldo/protocol'
import { encodeBase64 } from './encode-base64.ts'
import type { ExecSession } from './exec-session.ts'
import type { LiveConnection } from './live-connection.ts'

/** With more than this unread, the executor is asked to wait. */
const HIGH_BYTES = 1024 * 1024

let lastRequest = 0

export class RemoteHttpClient implements HttpClient {
  readonly #session: ExecSession

  constructor(session: ExecSession) {
    this.#session = session
  }

  async request(url: string | URL, options: HttpRequestOptions = {}): Promise<HttpResponse> {
    const { signal } = options
    // Ids are ours, not the world's: a number is enough.
    const requestId = `http-${++lastRequest}`
    const connection = await this.#session.live({ signal })
    const body = new ResponseBody(this.#session, connection, requestId, { signal })
    try {
      const params = {
        requestId,
        method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
        url: String(url),
        headers: headerList(options.headers),
        bodyBase64: options.body === undefined ? null : encodeBase64(toBytes(options.body)),
        timeoutMs: options.timeoutMs,
        redirectPolicy: options.redirect ?? 'follow',
        streamResponse: true,
      }
      const answer = await this.#session.call('http/request', params, { signal, connection })
      const { status, headers } = answer as Result<'http/request'>
      return {
        status,
        headers,
        body: body.stream,
        bytes: () => collect(body.stream),
        text: async () => new TextDecoder().decode(await collect(body.stream)),
      }
    } catch (error) {
      body.abandon()
      throw error
    }
  }

  async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const request = new Request(input as Request, init)
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
    const {
      status,
      headers,
      body: stream,
    } = await this.request(request.url, {
      method: request.method,
      headers: [...request.headers].map(([name, value]) => ({ name, value })),
      body,
      redirect: request.redirect === 'follow' ? 'follow' : 'stop',
      signal: request.signal,
    })
    if (request.redirect === 'error' && [301, 302, 303, 307, 308].includes(status)) {
      await stream.cancel()
      throw new TypeError(`${request.url} redirects, which was to be an error`)
    }
    const hasBody = ![101, 204, 205, 304].includes(status)
    if (!hasBody) await stream.cancel()
    const list = headers.map(({ name, value }): [string, string] => [name, value])
    return new Response(hasBody ? stream : null, { status, headers: list })
  }
}

/** What comes of one body, and goes to whoever reads it. It belongs to one connection, and ends with it. */
class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly #session: ExecSession
  readonly #connection: LiveConnection
  readonly #requestId: string
  readonly #stop: () => void
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #nextSeq = 1
  #held = false
  #ended = false

  constructor(session: ExecSession, connection: LiveConnection, requestId: string, { signal }: CallOptions) {
    this.#session = session
    this.#connection = connection
    this.#requestId = requestId
    const abort = () => this.#fail(signal!.reason)
    const unroute = session.notifications.route(`http ${requestId}`, (_, delta: HttpBodyDelta) => this.#take(delta))
    // A request is not repeated: nobody knows what it did.
    const leave = session.join({ cut: (error) => this.#fail(error), lost: (error) => this.#fail(error) })
    signal?.addEventListener('abort', abort, { once: true })
    this.#stop = () => {
      unroute()
      leave()
      signal?.removeEventListener('abort', abort)
    }
    const strategy = { highWaterMark: HIGH_BYTES, size: (piece: Uint8Array | undefined) => piece?.length ?? 0 }
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
          this.#controller = controller
        },
        pull: () => this.#hold(false),
        cancel: () => this.abandon(),
      },
      strategy,
    )
  }

  /** Nobody wants it any more. */
  abandon(): void {
    if (this.#ended) return
    this.#end()
    this.#tell('http/cancel', {})
  }

  #take({ seq, deltaBase64, done, error }: HttpBodyDelta): void {
    if (this.#ended) return
    const problem = seq === this.#nextSeq++ ? error : `a piece of the body is missing before ${seq}`
    if (problem !== null) {
      this.#fail(new ExecError('HTTP_FAILED', problem))
      return
    }
    if (deltaBase64 !== '') this.#controller.enqueue(decodeBase64(deltaBase64))
    if (done) {
      this.#end()
      this.#controller.close()
    } else if ((this.#controller.desiredSize ?? 0) <= 0) this.#hold(true)
  }

  #hold(hold: boolean): void {
    if (hold === this.#held || this.#ended) return
    this.#held = hold
    if (this.#connection.info.capabilities?.httpFlow) this.#tell('http/flow', { push: !hold })
    // All or nothing: everybody on this connection waits.
    else this.#session.hold(this, hold)
  }

  #fail(error: unknown): void {
    if (this.#ended) return
    this.abandon()
    this.#controller.error(error)
  }

  #end(): void {
    this.#hold(false)
    this.#ended = true
    this.#stop()
  }

  #tell(method: string, params: object): void {
    const connection = this.#connection
    // If it fails the connection is lost, and the request with it.
    void this.#session.call(method, { requestId: this.#requestId, ...params }, { connection }).catch(() => {})
  }
}

function headerList(headers: HttpRequestOptions['headers']): HttpHeader[] {
  if (headers === undefined) return []
  if (Array.isArray(headers)) return [...(headers as readonly HttpHeader[])]
  return Object.entries(headers as Record<string, string>).map(([name, value]) => ({ name, value }))
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
