import { characterBytes, encodeUtf8, isContinuation } from '../utf8.ts'
import { compilePattern } from './compile-pattern.ts'
import { MATCHES, MatchStates, NO_MATCH } from './match-states.ts'
import { parsePattern } from './parse-pattern.ts'

/** What one pattern may cost beyond a glance at each byte: some hundred milliseconds at worst. */
const MAX_EFFORT = 15_000_000

/**
 * A regular expression from somebody whom we do not trust, for lines. It takes time in proportion to the text, with an
 * effort on top that is bounded for all of its searches together: when that is spent, it finds nothing any more. So make
 * one for each search.
 */
export class LinePattern {
  /** How much of a line is worth keeping of which more may come. */
  readonly maxLength = 8192
  readonly #states: MatchStates
  #effort = MAX_EFFORT

  private constructor(states: MatchStates) {
    this.#states = states
  }

  /** Throws a `PatternError` that says what is wrong, and what to write instead. */
  static parse(pattern: string): LinePattern {
    return new LinePattern(new MatchStates(compilePattern(parsePattern(pattern))))
  }

  /** The pattern turned out to be too hard for this text, and what follows was not searched. */
  get isSpent(): boolean {
    return this.#effort <= 0
  }

  /** Whether there is a match in the line, which is without its end. */
  test(line: string): boolean {
    const bytes = encodeUtf8(line)
    return this.search(bytes, 0, bytes.length) !== undefined
  }

  /** Where the match in the line from `start` to `end` is seen first: right behind it. Undefined if there is none. */
  search(bytes: Uint8Array, start: number, end: number): number | undefined {
    const states = this.#states
    const { ascii } = states.alphabet
    let state = states.first
    for (let at = start; at < end; ) {
      const byte = bytes[at]!
      let group: number
      let width = 1
      if (byte < 0x80) group = ascii[byte]!
      else {
        width = widthAt(bytes, at, end)
        group = states.alphabet.groupOf(width === 1 ? 0xfffd : pointAt(bytes, at, width))
      }
      const next = states.known(state, group) || this.#work(state, group)
      if (next === MATCHES) return at
      if (next === NO_MATCH) return undefined
      state = next
      at += width
    }
    const last = states.known(state, states.endOfLine) || this.#work(state, states.endOfLine)
    return last === MATCHES ? end : undefined
  }

  #work(state: number, group: number): number {
    if (this.isSpent) return NO_MATCH
    const next = this.#states.work(state, group)
    this.#effort -= this.#states.lastEffort
    return next
  }
}

/** 1 for ASCII and for what is no UTF-8. */
function widthAt(bytes: Uint8Array, at: number, end: number): number {
  const width = characterBytes(bytes[at]!)
  if (at + width > end) return 1
  for (let i = 1; i < width; i++) if (!isContinuation(bytes[at + i]!)) return 1
  return width
}

function pointAt(bytes: Uint8Array, at: number, width: number): number {
  let point = bytes[at]! & (0x7f >> width)
  for (let i = 1; i < width; i++) point = (point << 6) | (bytes[at + i]! & 0x3f)
  return point
}
