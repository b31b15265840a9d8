import type { HttpHeader } from './resolve-headers.ts'

const MAX_HEAD_BYTES = 100 * 1024
const MAX_HEADERS = 256
const MAX_CHUNK_LINE_BYTES = 4 * 1024
const MAX_TRAILER_BYTES = 16 * 1024

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const ASCII_VALUE = /^[\t\x20-\x7e]*$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const KEEP_ALIVE = /^timeout=(\d{1,6})$/
const DIGITS = /^\d{1,15}$/
const HEX_DIGITS = /^[0-9a-fA-F]{1,12}$/

/** A head, without its end, that is as nearly all of them are. Each character can be part of one thing only. */
const PLAIN_HEAD = /^HTTP\/1\.[01] [2-9]\d\d(?: [\t\x20-\x7e]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*)*$/

const LF = 10
const DIGIT_0 = 0x30
const END_OF_HEAD = Buffer.from('\r\n\r\n')

export interface ResponseHead {
  readonly status: number
  /** Names in lower case, in order and with repeats; values that are not text are left out. */
  readonly headers: HttpHeader[]
}

type State = 'status' | 'headers' | 'sized' | 'until-close' | 'chunk-line' | 'chunk' | 'chunk-end' | 'trailers' | 'done'

/**
 * Reads one response of HTTP/1.1. It holds no more than the line that it is in; whatever is not as it should be is an
 * error, because the next response would be read from a place that the server may have chosen.
 */
export class ResponseParser {
  readonly #method: string
  #state: State = 'status'
  #line = ''
  /** Of the head with interim responses, or of the trailers. */
  #lineBytes = 0
  #lines = 0
  #status = 0
  #headers: HttpHeader[] = []
  #head: ResponseHead | undefined
  #left = 0
  #version = 1
  #persistent = false
  /** Whatever else it says. */
  #closes = false
  #idleMs = Number.POSITIVE_INFINITY
  #surplus = false

  constructor(method: string) {
    this.#method = method
  }

  /** From the moment that it is complete. */
  get head(): ResponseHead | undefined {
    return this.#head
  }

  get done(): boolean {
    return this.#state === 'done'
  }

  /** Whether another request may follow on the connection. Not if the server sent more than the response. */
  get reusable(): boolean {
    return this.done && this.#persistent && !this.#closes && !this.#surplus
  }

  /** How long the server says that it keeps an idle connection. */
  get idleMs(): number {
    return this.#idleMs
  }

  /** Takes what has come, which becomes the parser's own, and returns the part of the body that is in it. */
  push(bytes: Buffer): Uint8Array | undefined {
    let at = 0
    let bodyStart = 0
    let bodyEnd = 0
    while (at < bytes.length) {
      switch (this.#state) {
        case 'sized':
        case 'chunk':
        case 'until-close': {
          const end = this.#state === 'until-close' ? bytes.length : Math.min(bytes.length, at + this.#left)
          this.#left -= end - at
          if (bodyEnd === 0) {
            bodyStart = at
            bodyEnd = end
          } else {
            // Thousands of tiny chunks make one piece: it is moved together over the framing that lies between.
            bytes.copyWithin(bodyEnd, at, end)
            bodyEnd += end - at
          }
          at = end
          if (this.#left === 0 && this.#state !== 'until-close') {
            this.#state = this.#state === 'chunk' ? 'chunk-end' : 'done'
          }
          break
        }
        case 'done':
          this.#surplus = true
          at = bytes.length
          break
        case 'status': {
          // Only where the response begins: a server could make us look for the end of each of thousands of heads.
          const begins = this.#lineBytes === 0 && this.#line === ''
          const found = begins ? bytes.indexOf(END_OF_HEAD, at) : -1
          const end = found + END_OF_HEAD.length
          const isWhole = found >= 0 && end - at <= MAX_HEAD_BYTES
          at = isWhole ? this.#takeHead(bytes, at, end) : this.#takeUpToLine(bytes, at)
          break
        }
        default:
          at = this.#takeUpToLine(bytes, at)
      }
    }
    return bodyEnd > bodyStart ? bytes.subarray(bodyStart, bodyEnd) : undefined
  }

  /** The server has closed its side. */
  end(): void {
    if (this.#state === 'until-close') this.#state = 'done'
    if (this.#state === 'done') return
    if (!this.#head) throw new Error('the connection was closed before the response was complete')
    const missing = this.#state === 'sized' ? `, ${this.#left} bytes are missing` : ''
    throw new Error(`the connection was closed in the middle of the body${missing}`)
  }

  /** Most heads come whole, and then one text is enough. Takes no more than the head, and returns where that ends. */
  #takeHead(bytes: Buffer, start: number, end: number): number {
    const text = bytes.toString('latin1', start, end)
    if (this.#takePlainHead(text.slice(0, -END_OF_HEAD.length))) return end
    let at = 0
    do {
      const lf = text.indexOf('\n', at)
      this.#takeLine(text.slice(at, lf))
      at = lf + 1
    } while (this.#state === 'headers')
    return start + at
  }

  /** False if it is not as nearly all heads are, and somebody has to look more closely. */
  #takePlainHead(text: string): boolean {
    const lines = text.split('\r\n')
    if (lines.length - 1 > MAX_HEADERS || !PLAIN_HEAD.test(text)) return false
    this.#takeVersion(text.charCodeAt(7) - DIGIT_0, Number(text.slice(9, 12)))
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i]!
      const colon = line.indexOf(':')
      // There is no white space in it but spaces and tabs.
      this.#headers.push({ name: line.slice(0, colon).toLowerCase(), value: line.slice(colon + 1).trim() })
    }
    this.#endHead()
    return true
  }

  /** Takes the rest of the line, or what there is of it, and returns where that ends. */
  #takeUpToLine(bytes: Buffer, start: number): number {
    const lf = bytes.indexOf(LF, start)
    const end = lf < 0 ? bytes.length : lf
    this.#line += bytes.toString('latin1', start, end)
    this.#checkLimits()
    if (lf >= 0) {
      const line = this.#line
      this.#line = ''
      this.#takeLine(line)
    }
    return end + 1
  }

  #checkLimits(): void {
    const length = this.#line.length
    if (this.#state === 'chunk-line' || this.#state === 'chunk-end') {
      if (length > MAX_CHUNK_LINE_BYTES) throw malformed('the line before a chunk is too long')
    } else if (this.#state === 'trailers') {
      if (this.#lineBytes + length > MAX_TRAILER_BYTES) throw malformed('its trailers are too large')
    } else if (this.#lineBytes + length > MAX_HEAD_BYTES) {
      throw malformed(`its head is larger than ${MAX_HEAD_BYTES} bytes`)
    }
  }

  #takeLine(raw: string): void {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    this.#lineBytes += raw.length + 1
    switch (this.#state) {
      case 'status':
        this.#takeStatus(line)
        break
      case 'headers':
        if (line === '') this.#endHead()
        else this.#takeHeader(line)
        break
      case 'trailers':
        if (line === '') this.#state = 'done'
        break
      case 'chunk-end':
        if (raw !== '\r') throw malformed('a chunk is longer than it says')
        this.#state = 'chunk-line'
        break
      default:
        // In a head a bare LF ends a line, as everywhere; but where bodies are framed, readers must not differ.
        if (line === raw || line.includes('\r')) throw malformed('the line before a chunk does not end as it should')
        this.#takeChunkLine(line)
    }
  }

  #takeStatus(line: string): void {
    const match = STATUS_LINE.exec(line)
    if (!match) throw malformed(`it does not begin like one: ${JSON.stringify(line.slice(0, 60))}`)
    this.#takeVersion(Number(match[1]), Number(match[2]))
    this.#state = 'headers'
  }

  #takeVersion(version: number, status: number): void {
    this.#version = version
    this.#persistent = version === 1
    this.#status = status
  }

  #takeHeader(line: string): void {
    if (++this.#lines > MAX_HEADERS) throw malformed(`it has more than ${MAX_HEADERS} headers`)
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    // Refuses what continues the line before it, too: such a line begins with a space.
    if (!TOKEN.test(name)) throw malformed(`a header has no valid name: ${JSON.stringify(line.slice(0, 60))}`)
    let value: string | undefined = trim(line.slice(colon + 1))
    if (!ASCII_VALUE.test(value)) {
      if (!FIELD_VALUE.test(value)) throw malformed(`the value of ${name} has control characters`)
      // Among the letters beyond ASCII there are some that become ASCII in lower case: not all readers would agree.
      if (FRAMING.has(name)) throw malformed(`the value of ${name} is not ASCII`)
      value = decode(value)
    }
    if (value !== undefined) this.#headers.push({ name, value })
  }

  #endHead(): void {
    const status = this.#status
    if (status === 101) throw malformed('the server switched to another protocol')
    if (status < 200) {
      this.#headers = []
      this.#state = 'status'
      return
    }
    const codings: string[] = []
    const lengths: string[] = []
    for (const { name, value } of this.#headers) {
      if (name === 'connection') this.#takeConnection(members(value))
      else if (name === 'keep-alive') this.#takeKeepAlive(members(value))
      else if (name === 'transfer-encoding') codings.push(...members(value))
      else if (name === 'content-length') lengths.push(...members(value))
    }
    this.#state = this.#framing(codings, lengths)
    this.#head = { status, headers: this.#headers }
  }

  #takeConnection(options: string[]): void {
    if (options.includes('close')) this.#closes = true
    if (options.includes('keep-alive')) this.#persistent = true
  }

  #takeKeepAlive(parameters: string[]): void {
    for (const parameter of parameters) {
      const seconds = KEEP_ALIVE.exec(parameter)?.[1]
      if (seconds !== undefined) this.#idleMs = Number(seconds) * 1000
    }
  }

  #framing(codings: string[], lengths: string[]): State {
    if (this.#method === 'HEAD' || this.#status === 204 || this.#status === 304) return 'done'
    if (codings.length > 0) {
      if (codings.length > 1 || codings[0] !== 'chunked') {
        throw malformed(`its transfer-encoding is not supported: ${codings.join(', ').slice(0, 60)}`)
      }
      // Somebody on the way may have believed the length instead, or not know chunks.
      if (lengths.length > 0 || this.#version === 0) this.#closes = true
      return 'chunk-line'
    }
    const [length] = lengths
    if (length === undefined) {
      this.#closes = true
      return 'until-close'
    }
    if (!DIGITS.test(length)) throw malformed(`its content-length is no length: ${JSON.stringify(length.slice(0, 60))}`)
    if (lengths.some((other) => other !== length)) throw malformed('it has two different lengths')
    this.#left = Number(length)
    return this.#left === 0 ? 'done' : 'sized'
  }

  #takeChunkLine(line: string): void {
    const semicolon = line.indexOf(';')
    const size = trim(semicolon < 0 ? line : line.slice(0, semicolon))
    if (!HEX_DIGITS.test(size)) throw malformed(`a chunk has no valid size: ${JSON.stringify(size.slice(0, 60))}`)
    this.#left = Number.parseInt(size, 16)
    this.#lineBytes = 0
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
  }
}

const FRAMING = new Set(['transfer-encoding', 'content-length', 'connection'])
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(latin1: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(latin1, 'latin1'))
  } catch {
    return undefined
  }
}

function members(value: string): string[] {
  const lower = value.toLowerCase()
  return lower.includes(',') ? lower.split(',').map(trim) : [lower]
}

/** Spaces and tabs only. Not a regular expression: on many spaces in the middle those take quadratic time. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

function malformed(what: string): Error {
  return new Error(`the response is malformed: ${what}`)
}
