import type { Socket } from 'node:net'
import { endToEnd } from './hop-by-hop.ts'
import { HttpRefusal, linger, refuse } from './http-answer.ts'
import type { HttpRequest } from './http-request.ts'
import type { RequestBody } from './request-body.ts'
import { ResponseHead } from './response-head.ts'
import { whenClosed } from './tunnel.ts'

export interface ExchangeOptions {
  readonly client: Socket
  readonly server: Socket
  readonly request: HttpRequest
  readonly body: RequestBody
  /** What the client has sent behind the head. */
  readonly early: Buffer
  readonly idleMs: number
}

/**
 * Passes a request on, and its response back, each at the pace of who reads it. The connections serve for this alone:
 * both sides are told so, and the end of the response is the end of the server's connection.
 */
export async function exchange(options: ExchangeOptions): Promise<void> {
  const { client, server } = options
  const closed = Promise.all([client, server].map(whenClosed))
  new Exchange(options).begin()
  await closed
}

class Exchange {
  readonly #client: Socket
  readonly #server: Socket
  readonly #request: HttpRequest
  readonly #body: RequestBody
  readonly #early: Buffer
  readonly #idleMs: number
  readonly #head = new ResponseHead()
  #answering = false

  constructor({ client, server, request, body, early, idleMs }: ExchangeOptions) {
    this.#client = client
    this.#server = server
    this.#request = request
    this.#body = body
    this.#early = early
    this.#idleMs = idleMs
  }

  begin(): void {
    const [client, server] = [this.#client, this.#server]
    // It may have left while the server was being reached.
    if (client.destroyed) server.destroy()
    client.on('close', () => server.destroy())
    client.on('error', () => server.destroy())
    server.on('error', (error) =>
      this.#fail(new HttpRefusal(502, `the connection to the host broke: ${error.message}`)),
    )
    server.on('end', () => this.#end())
    server.setTimeout(this.#idleMs, () => this.#fail(new HttpRefusal(504, 'the host has not answered for too long')))
    server.write(encodeHead(this.#request, this.#body), 'latin1')
    this.#send(this.#early)
    client.on('data', (bytes: Buffer) => this.#send(bytes))
    server.on('drain', () => client.resume())
    server.on('data', (bytes: Buffer) => this.#receive(bytes))
    client.on('drain', () => server.resume())
    if (!server.writableNeedDrain) client.resume()
    server.resume()
  }

  /** From the client. What comes behind the body was not asked for, and is dropped. */
  #send(bytes: Buffer): void {
    if (this.#body.complete || !this.#server.writable) return
    try {
      for (const piece of this.#body.push(bytes)) this.#server.write(piece)
    } catch (error) {
      this.#fail(error as HttpRefusal)
      return
    }
    if (this.#server.writableNeedDrain) this.#client.pause()
  }

  #receive(bytes: Buffer): void {
    try {
      const pieces = this.#head.complete ? [bytes] : this.#head.push(bytes)
      for (const piece of pieces) {
        this.#answering ||= piece.length > 0
        this.#client.write(piece)
      }
    } catch (error) {
      this.#fail(error as HttpRefusal)
      return
    }
    if (this.#client.writableNeedDrain) this.#server.pause()
  }

  #end(): void {
    if (!this.#head.complete) {
      this.#fail(new HttpRefusal(502, 'the host has closed the connection without an answer'))
      return
    }
    this.#finish()
  }

  /** Once the client has a part of the answer, it must not take it for all of it. */
  #fail(refusal: HttpRefusal): void {
    this.#server.destroy()
    if (this.#client.destroyed || this.#client.writableEnded) return
    if (!this.#answering) refuse(this.#client, refusal, this.#request.method)
    else if (this.#head.delimited) this.#finish()
    else this.#client.resetAndDestroy()
  }

  #finish(): void {
    this.#server.destroy()
    // Nobody else looks any more whether it takes what is left.
    this.#client.setTimeout(this.#idleMs, () => this.#client.destroy())
    this.#client.end()
    linger(this.#client)
  }
}

/** The host is the one that was decided about, whatever the client has written. */
function encodeHead({ method, path, version, host, port, fields }: HttpRequest, body: RequestBody): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`
  const passed = endToEnd(fields, ['host', 'content-length', 'transfer-encoding'])
  return [
    `${method} ${path} HTTP/${version}`,
    `host: ${authority}`,
    ...passed.map(([name, value]) => `${name}: ${value}`),
    ...body.fields,
    'connection: close',
    '\r\n',
  ].join('\r\n')
}
