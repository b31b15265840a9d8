import { encodeUtf8 } from '../utf8.ts'
import { pointAt, widthAt } from './code-points.ts'
import { compilePattern } from './compile-pattern.ts'
import { MATCHES, MatchStates, NO_MATCH } from './match-states.ts'
import { parsePattern } from './parse-pattern.ts'

/**
 * A regular expression from somebody whom we do not trust, for lines. It takes time in proportion to the text, with an
 * effort on top that is bounded for all of its searches together: when that is spent, it finds nothing any more. So make
 * one for each search.
 */
export class LinePattern {
  readonly #states: MatchStates

  private constructor(states: MatchStates) {
    this.#states = states
  }

  /** Throws a `PatternError` that says what is wrong, and what to write instead. */
  static parse(pattern: string): LinePattern {
    return new LinePattern(new MatchStates(compilePattern(parsePattern(pattern))))
  }

  /** The pattern turned out to be too hard for this text, and what follows was not searched. */
  get isSpent(): boolean {
    return this.#states.isSpent
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
      const width = byte < 0x80 ? 1 : widthAt(bytes, at, end)
      const group = byte < 0x80 ? ascii[byte]! : states.alphabet.groupOf(pointAt(bytes, at, width))
      const next = states.known(state, group) || states.work(state, group)
      if (next === MATCHES) return at
      if (next === NO_MATCH) return undefined
      state = next
      at += width
    }
    const last = states.known(state, states.endOfLine) || states.work(state, states.endOfLine)
    return last === MATCHES ? end : undefined
  }
}
