import { type HttpRequest, malformed } from './http-request.ts'

const MAX_LINE = 4 * 1024
const MAX_TRAILERS = 16 * 1024
const LF = 10
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const LINE_END = Buffer.from('\r\n')

/**
 * The body of a request, which ends where it says, so that nothing behind it reaches the server. Chunks are taken apart
 * and put together again: what they can hold besides the body is left out.
 */
export interface RequestBody {
  /** How the server is to find its end. */
  readonly fields: readonly string[]
  /** True when the client has sent all of it. */
  readonly complete: boolean
  /** Takes what has come, and returns what is to be passed on. Throws an `HttpRefusal`. */
  push(bytes: Buffer): Buffer[]
}

/** Throws an `HttpRefusal` if it is not certain where the body ends. */
export function requestBody({ fields, version }: HttpRequest): RequestBody {
  const values = (name: string) => fields.filter(([candidate]) => candidate === name).map(([, value]) => value)
  const lengths = values('content-length')
  const codings = values('transfer-encoding')
  if (codings.length > 0) {
    if (lengths.length > 0) throw malformed('it has both a Content-Length and a Transfer-Encoding')
    if (version === '1.0' || codings.length > 1 || codings[0]!.toLowerCase() !== 'chunked') {
      throw malformed('its Transfer-Encoding is not "chunked"')
    }
    return new ChunkedBody()
  }
  const [length] = lengths
  if (length === undefined) return new SizedBody(undefined)
  if (!/^\d{1,15}$/.test(length) || lengths.some((other) => other !== length)) {
    throw malformed('its Content-Length is not a number, or there are several')
  }
  return new SizedBody(Number(length))
}

class SizedBody implements RequestBody {
  readonly fields: readonly string[]
  #left: number

  constructor(length: number | undefined) {
    this.fields = length === undefined ? [] : [`content-length: ${length}`]
    this.#left = length ?? 0
  }

  get complete(): boolean {
    return this.#left === 0
  }

  push(bytes: Buffer): Buffer[] {
    const piece = bytes.subarray(0, this.#left)
    this.#left -= piece.length
    return piece.length > 0 ? [piece] : []
  }
}

class ChunkedBody implements RequestBody {
  readonly fields = ['transfer-encoding: chunked']
  #state: 'size' | 'data' | 'data-end' | 'trailers' | 'done' = 'size'
  #line = ''
  #left = 0
  #trailerBytes = 0

  get complete(): boolean {
    return this.#state === 'done'
  }

  push(bytes: Buffer): Buffer[] {
    const pieces: Buffer[] = []
    let at = 0
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const piece = bytes.subarray(at, at + this.#left)
        at += piece.length
        this.#left -= piece.length
        pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, LINE_END)
        if (this.#left === 0) this.#state = 'data-end'
        continue
      }
      const lf = bytes.indexOf(LF, at)
      const end = lf < 0 ? bytes.length : lf + 1
      this.#line += bytes.toString('latin1', at, end)
      at = end
      if (this.#line.length > MAX_LINE) throw malformed('a line between its chunks is too long')
      if (lf < 0) break
      const line = this.#line
      this.#line = ''
      if (this.#takeLine(line)) pieces.push(LAST_CHUNK)
    }
    return pieces
  }

  /** True if it was the last. */
  #takeLine(line: string): boolean {
    if (!/^[\t\x20-\x7e\x80-\xff]*\r\n$/.test(line)) throw malformed('a line between its chunks is not one of HTTP')
    switch (this.#state) {
      case 'size': {
        const [, digits] = /^([0-9a-fA-F]{1,12})[ \t]*(?:;|\r)/.exec(line) ?? []
        if (digits === undefined) throw malformed('a chunk does not say how long it is')
        this.#left = Number.parseInt(digits, 16)
        this.#state = this.#left === 0 ? 'trailers' : 'data'
        return false
      }
      case 'data-end':
        if (line !== '\r\n') throw malformed('a chunk is longer than it says')
        this.#state = 'size'
        return false
      default:
        this.#trailerBytes += line.length
        if (this.#trailerBytes > MAX_TRAILERS) throw malformed('its trailers are too long')
        if (line !== '\r\n') return false
        this.#state = 'done'
        return true
    }
  }
}
