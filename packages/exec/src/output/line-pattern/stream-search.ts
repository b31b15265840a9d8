import { incompleteBytes } from '../utf8.ts'
import { pointAt, widthAt } from './code-points.ts'
import { compilePattern } from './compile-pattern.ts'
import { MATCHES, MatchStates, NO_MATCH } from './match-states.ts'
import { parsePattern } from './parse-pattern.ts'

const LF = 0x0a
const CR = 0x0d
const REPLACEMENT = 0xfffd

/**
 * Looks for a pattern (see `LinePattern`) in the lines of a stream, as it comes: every byte is looked at once, nothing of
 * a line is kept, and what is found does not depend on where the stream is cut into chunks. Lines end with LF or CR LF.
 */
export class StreamSearch {
  readonly #states: MatchStates
  #state: number
  /** The beginning of a character. */
  #carried = new Uint8Array(0)
  /** Whether there was a CR that is the end of a line if an LF follows, and otherwise a character. */
  #holdsCr = false
  #hasMatched = false

  private constructor(states: MatchStates) {
    this.#states = states
    this.#state = states.first
  }

  /** Throws a `PatternError` that says what is wrong, and what to write instead. */
  static parse(pattern: string): StreamSearch {
    return new StreamSearch(new MatchStates(compilePattern(parsePattern(pattern))))
  }

  /** The pattern turned out to be too hard for this stream, and what follows was not searched. */
  get isSpent(): boolean {
    return this.#states.isSpent
  }

  /** Whether there is a match if the line ends here. More of it may come: then there may be none. */
  get matchesIfLineEnds(): boolean {
    if (this.#hasMatched) return true
    return !this.#isBetweenLines && this.#carried.length === 0 && this.#leadsTo(this.#states.endOfLine) === MATCHES
  }

  /** Whether there is a match by now, whatever follows. */
  feed(chunk: Uint8Array): boolean {
    if (this.#hasMatched || chunk.length === 0) return this.#hasMatched
    const bytes = joined(this.#carried, chunk)
    const end = bytes.length - incompleteBytes(bytes, bytes.length)
    // A copy: whoever reads may use the memory of the chunk again.
    this.#carried = new Uint8Array(bytes.subarray(end))
    for (let at = 0; at < end && !this.#hasMatched; ) at += this.#take(bytes, at, end)
    this.#hasMatched ||= this.#leadsTo(this.#states.anything) === MATCHES
    return this.#hasMatched
  }

  /** Whether there is a match, now that nothing follows. */
  end(): boolean {
    if (this.#isBetweenLines || this.matchesIfLineEnds) return this.matchesIfLineEnds
    if (this.#holdsCr) this.#step(CR)
    // What is not complete now is no UTF-8.
    for (let bytes = this.#carried.length; bytes > 0; bytes--) this.#step(REPLACEMENT)
    this.#carried = new Uint8Array(0)
    this.#endLine()
    return this.#hasMatched
  }

  /** Nothing of the next line has come, so there is none. */
  get #isBetweenLines(): boolean {
    return this.#state === this.#states.first && !this.#holdsCr && this.#carried.length === 0
  }

  /** Returns how many bytes that were. */
  #take(bytes: Uint8Array, at: number, end: number): number {
    const byte = bytes[at]!
    if (byte === LF) {
      this.#endLine()
      return 1
    }
    if (this.#holdsCr) this.#step(CR)
    this.#holdsCr = byte === CR
    if (this.#holdsCr) return 1
    const width = byte < 0x80 ? 1 : widthAt(bytes, at, end)
    this.#step(pointAt(bytes, at, width))
    return width
  }

  #endLine(): void {
    this.#hasMatched ||= this.#leadsTo(this.#states.endOfLine) === MATCHES
    this.#state = this.#states.first
    this.#holdsCr = false
  }

  #step(point: number): void {
    const { ascii } = this.#states.alphabet
    const next = this.#leadsTo(point < 0x80 ? ascii[point]! : this.#states.alphabet.groupOf(point))
    if (next === MATCHES) this.#hasMatched = true
    else if (next !== NO_MATCH) this.#state = next
  }

  #leadsTo(group: number): number {
    // The state is not where the stream is any more.
    if (this.isSpent) return NO_MATCH
    return this.#states.known(this.#state, group) || this.#states.work(this.#state, group)
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
