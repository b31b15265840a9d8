import { ExecError } from '@waldo/environment'
import type { Deadline, HttpClient, HttpResponse } from '@waldo/local/http'
import { ErrorCode, type HttpRequestParams, limits, type Params, ProtocolError, type Result } from '@waldo/protocol'
import { textWithBase64 } from '../base64-text.ts'
import type { LargeAnswers } from '../large-answers.ts'
import type { TextParts } from '../wire.ts'

/** Requests of one connection at a time. */
const MAX_REQUESTS = 128
/** Bodies that one connection can have collected at a time. */
const MAX_COLLECTED_BYTES = 2 * limits.wholeBodyBytes

export interface HttpOptions {
  readonly client: HttpClient
  /** What has been loaded with it. */
  readonly local: Pick<typeof import('@waldo/local/http'), 'Deadline' | 'resolveHeaders'>
  readonly send: (text: string | TextParts) => void
  readonly answers: LargeAnswers
  /** Undefined if bulk may be sent now. */
  readonly room: () => Promise<void> | undefined
}

interface Active {
  readonly requestId: string
  readonly deadline: Deadline
  /** Resolves when the client wants more; undefined if it does now. */
  held: PromiseWithResolvers<void> | undefined
}

/** The HTTP requests of one connection. They end with it. */
export class HttpRequests {
  readonly #options: HttpOptions
  readonly #active = new Set<Active>()
  /** Bytes of bodies that are being collected. */
  #collected = 0
  /** Ids whose bodies are being streamed, or will be. */
  readonly #streams = new Set<string>()

  constructor(options: HttpOptions) {
    this.#options = options
  }

  async request(params: HttpRequestParams): Promise<Result<'http/request'>> {
    const { requestId, streamResponse } = params
    if (this.#active.size >= MAX_REQUESTS) {
      throw new ExecError(
        'HTTP_FAILED',
        `http/request failed: ${MAX_REQUESTS} requests of this connection are under way`,
      )
    }
    if (streamResponse) {
      if (this.#streams.has(requestId)) {
        throw new ProtocolError(
          ErrorCode.invalidParams,
          `http/request streamResponse requestId \`${requestId.slice(0, 100)}\` is already active`,
        )
      }
      this.#streams.add(requestId)
    }
    const active: Active = { requestId, deadline: new this.#options.local.Deadline(params.timeoutMs), held: undefined }
    this.#active.add(active)
    let streaming = false
    try {
      let response: HttpResponse
      try {
        response = await this.#start(params, active.deadline)
      } catch (error) {
        throw ofRequest(error)
      }
      const { status, headers } = response
      if (!streamResponse) {
        const body = await this.#collect(response)
        const encode = () => ({ status, headers, bodyBase64: body.toBase64() })
        const answer = this.#options.answers.within(body.length * 2, encode)
        // Only if there is something to wait for: it holds the body, so it counts until then.
        return answer instanceof Promise ? await answer : answer
      }
      streaming = true
      // After the answer, which goes out as soon as this returns.
      setImmediate(() => void this.#stream(active, response))
      return { status, headers, bodyBase64: '' }
    } finally {
      if (!streaming) this.#end(active, streamResponse)
    }
  }

  flow({ requestId, push }: Params<'http/flow'>): Result<'http/flow'> {
    for (const active of this.#active) {
      if (active.requestId !== requestId) continue
      if (!push) active.held ??= Promise.withResolvers()
      else {
        active.held?.resolve()
        active.held = undefined
      }
    }
    return {}
  }

  cancel({ requestId }: Params<'http/cancel'>): Result<'http/cancel'> {
    const found = [...this.#active].filter((active) => active.requestId === requestId)
    for (const active of found) {
      active.deadline.abort(new Error('cancelled by the client'))
      active.held?.resolve()
    }
    return { cancelled: found.length > 0 }
  }

  close(): void {
    for (const { deadline, held } of this.#active) {
      deadline.abort(new Error('the connection is gone'))
      held?.resolve()
    }
  }

  #start(params: HttpRequestParams, deadline: Deadline): Promise<HttpResponse> {
    const { client, local } = this.#options
    const { method, url, bodyBase64: body, redirectPolicy: redirects } = params
    const headers = local.resolveHeaders(params.headers, process.env)
    return client.request({ method, url, headers, body, redirects }, deadline)
  }

  /** Only as fast as the client reads: the rest stays with whoever sends it. */
  async #stream(active: Active, response: HttpResponse): Promise<void> {
    const { room } = this.#options
    const { requestId } = active
    let seq = 0
    let failure: string | null = null
    try {
      for (let piece = await response.read(); piece; piece = await response.read()) {
        for (let at = 0; at < piece.length; at += limits.httpDeltaBytes) {
          await active.held?.promise
          await room()
          // The end of a cancelled request follows at once, not what was read before.
          if (active.deadline.reason) break
          this.#delta(requestId, ++seq, piece.subarray(at, at + limits.httpDeltaBytes))
        }
      }
      // What had come already may have been left out.
      failure = active.deadline.reason?.message ?? null
    } catch (error) {
      failure = (error as Error).message
    }
    response.cancel()
    // First free, then told: whoever reads the end may use the id again.
    this.#end(active, true)
    const end = { requestId, seq: ++seq, deltaBase64: '', done: true, error: failure }
    this.#options.send(`{"method":"http/request/bodyDelta","params":${JSON.stringify(end)}}`)
  }

  #delta(requestId: string, seq: number, bytes: Uint8Array): void {
    const id = JSON.stringify(requestId)
    const before = `{"method":"http/request/bodyDelta","params":{"requestId":${id},"seq":${seq},"deltaBase64":"`
    this.#options.send(textWithBase64(before, bytes, '","done":false,"error":null}}'))
  }

  #end(active: Active, streamed: boolean): void {
    active.deadline.clear()
    this.#active.delete(active)
    if (streamed) this.#streams.delete(active.requestId)
  }

  async #collect(response: HttpResponse): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let length = 0
    try {
      for (let piece = await response.read(); piece; piece = await response.read()) {
        pieces.push(piece)
        length += piece.length
        this.#collected += piece.length
        if (length > limits.wholeBodyBytes) throw tooLarge(`it has more than ${limits.wholeBodyBytes} bytes`)
        if (this.#collected > MAX_COLLECTED_BYTES) throw tooLarge('too many large bodies are being read at once')
      }
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, length)
    } catch (cause) {
      response.cancel()
      const message = `failed to read http/request response body: ${(cause as Error).message}`
      throw new ExecError('HTTP_FAILED', message, { cause })
    } finally {
      this.#collected -= length
    }
  }
}

/** The same failure, said as the wire says it. */
function ofRequest(error: unknown): unknown {
  if (!ExecError.is(error)) return error
  const what = error.code === 'HTTP_INVALID' ? 'http/request' : 'http/request failed:'
  return new ExecError(error.code, `${what} ${error.message}`, { cause: error })
}

function tooLarge(why: string): Error {
  return new Error(`${why}; ask for streamResponse`)
}
