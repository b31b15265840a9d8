import { isUtf8 } from 'node:buffer'

/** Longer lines are cut: to this much, of which so much stands before the match. */
const MAX_LINE_LENGTH = 2000
const LENGTH_BEFORE_MATCH = 500
/** As much as a character of text can take in UTF-8, for each that is kept. */
const MAX_LINE_BYTES = 4 * MAX_LINE_LENGTH
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

export interface GrepMatch {
  /** From 1. */
  readonly line: number
  /** In bytes from the beginning of the line, from 1: where the first match in it begins. */
  readonly column: number
  readonly text: string
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** One of the texts is a part of its line: around the match, and in `before` and `after` the beginning. */
  readonly truncated?: true
  /** One of the texts contains replacement characters for what is not UTF-8. */
  readonly lossy?: true
}

/** Shows lines of a file. They must be asked for in ascending order. */
export class Excerpts {
  readonly #bytes: Buffer
  #line = 1
  #start = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Around a column of a line, or around its end if none is given. Undefined if there is no such line. */
  at(line: number, column: number | undefined, context: { before: number; after: number }): GrepMatch | undefined {
    const bytes = this.#bytes
    while (this.#line < line) {
      const end = bytes.indexOf(LINE_FEED, this.#start)
      if (end < 0) return undefined
      this.#line++
      this.#start = end + 1
    }
    if (this.#start >= bytes.length) return undefined
    const shown = new ShownLines(bytes)
    const around = column === undefined ? shown.lineEnd(this.#start) - this.#start : column - 1
    const text = shown.text(this.#start, around)
    const before: string[] = []
    for (let start = this.#start; before.length < context.before && start > 0; ) {
      start = start === 1 ? 0 : bytes.lastIndexOf(LINE_FEED, start - 2) + 1
      before.unshift(shown.text(start, 0))
    }
    const after: string[] = []
    for (let start = this.#start; after.length < context.after; ) {
      start = bytes.indexOf(LINE_FEED, start) + 1
      if (start === 0 || start >= bytes.length) break
      after.push(shown.text(start, 0))
    }
    const { truncated, lossy } = shown
    return { line, column: around + 1, text, before, after, ...(truncated && { truncated }), ...(lossy && { lossy }) }
  }
}

class ShownLines {
  readonly #bytes: Buffer
  truncated: true | undefined
  lossy: true | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The line that begins at `start`, without its end; if it is too long, what is around the byte `around` in it. */
  text(start: number, around: number): string {
    const end = this.lineEnd(start)
    if (end - start <= MAX_LINE_BYTES) {
      const text = this.#decode(start, end)
      if (text.length <= MAX_LINE_LENGTH) return text
    }
    this.truncated = true
    const match = Math.min(start + around, end)
    const first = this.#characterStart(Math.max(start, match - 4 * LENGTH_BEFORE_MATCH), start)
    const last = this.#characterStart(Math.min(end, match + MAX_LINE_BYTES), match)
    const lead = fromPairBoundary(this.#decode(first, match), LENGTH_BEFORE_MATCH)
    return lead + toPairBoundary(this.#decode(match, last), MAX_LINE_LENGTH - lead.length)
  }

  lineEnd(start: number): number {
    const lineFeed = this.#bytes.indexOf(LINE_FEED, start)
    const end = lineFeed < 0 ? this.#bytes.length : lineFeed
    return end > start && this.#bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end
  }

  /** The last place up to `at` where a character begins, so that a cut damages none. */
  #characterStart(at: number, least: number): number {
    let start = at
    while (start > least && start > at - 3 && start < this.#bytes.length && (this.#bytes[start]! & 0xc0) === 0x80)
      start--
    return start
  }

  #decode(start: number, end: number): string {
    const bytes = this.#bytes.subarray(start, end)
    if (!isUtf8(bytes)) this.lossy = true
    return bytes.toString('utf8')
  }
}

/** The end of a text, with no half of a surrogate pair. */
function fromPairBoundary(text: string, length: number): string {
  const end = text.slice(-length)
  return isLowSurrogate(end, 0) ? end.slice(1) : end
}

function toPairBoundary(text: string, length: number): string {
  return text.slice(0, isLowSurrogate(text, length) ? length - 1 : length)
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}
