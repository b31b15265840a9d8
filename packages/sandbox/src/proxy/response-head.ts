import { endToEnd } from './hop-by-hop.ts'
import { HttpRefusal } from './http-answer.ts'
import { type HttpField, parseField } from './http-field.ts'

const MAX_HEAD_BYTES = 64 * 1024
const LF = 10
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/

/** Reads the head of a response, and makes of it the one that the client gets. */
export class ResponseHead {
  #lines: string[] = []
  #line = ''
  #bytes = 0
  #complete = false
  #delimited = false

  /** What follows is the body, which is passed on as it comes. */
  get complete(): boolean {
    return this.#complete
  }

  /** Whether the client can see for itself where the body ends. */
  get delimited(): boolean {
    return this.#delimited
  }

  /** Takes what has come, and returns what is to be passed on. Throws an `HttpRefusal`. */
  push(bytes: Buffer): Buffer[] {
    const pieces: Buffer[] = []
    let at = 0
    while (at < bytes.length && !this.#complete) {
      const lf = bytes.indexOf(LF, at)
      const end = lf < 0 ? bytes.length : lf
      this.#bytes += end - at + 1
      if (this.#bytes > MAX_HEAD_BYTES) throw unusable(`its head is larger than ${MAX_HEAD_BYTES} bytes`)
      this.#line += bytes.toString('latin1', at, end)
      at = end + 1
      if (lf < 0) break
      const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line
      this.#line = ''
      if (line !== '') this.#lines.push(line)
      else pieces.push(Buffer.from(this.#translate(this.#lines.splice(0)), 'latin1'))
    }
    if (this.#complete) pieces.push(bytes.subarray(at))
    return pieces
  }

  #translate([first = '', ...lines]: string[]): string {
    const [, status] = STATUS_LINE.exec(first) ?? []
    if (status === undefined) throw unusable('its first line is not one of HTTP')
    // We have asked for no other protocol.
    if (status === '101') throw unusable('it switches to another protocol; use CONNECT for that')
    const fields = lines.map((line): HttpField => {
      const field = parseField(line)
      if (!field) throw unusable('it has a header line that is not one')
      return field
    })
    // Others may follow an interim one.
    this.#complete = !status.startsWith('1')
    this.#delimited = fields.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
    const ambiguous = fields.some(([name]) => name === 'transfer-encoding')
    const passed = endToEnd(fields, ambiguous ? ['content-length'] : []).map(([name, value]) => `${name}: ${value}`)
    return [first, ...passed, ...(this.#complete ? ['connection: close'] : []), '\r\n'].join('\r\n')
  }
}

function unusable(what: string): HttpRefusal {
  return new HttpRefusal(502, `Waldo has not passed on the response: ${what}`)
}
