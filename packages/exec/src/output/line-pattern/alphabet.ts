import { isIn, LAST_CODE_POINT, type Range, WORD } from './code-points.ts'
import { PatternError } from './pattern-error.ts'

/** What the tables of a search cost grows with it. */
const MAX_GROUPS = 4096

/** The characters in groups, within which a pattern makes no difference. */
export class Alphabet {
  /** The first code point of each group, ascending. */
  readonly #firsts: readonly number[]
  /** The group of each ASCII character. */
  readonly ascii = new Uint16Array(128)
  readonly #isWord: readonly boolean[]

  constructor(sets: readonly (readonly Range[])[]) {
    const firsts = new Set([0])
    for (const ranges of [WORD, ...sets]) {
      for (const [low, high] of ranges) {
        firsts.add(low)
        if (high < LAST_CODE_POINT) firsts.add(high + 1)
      }
    }
    if (firsts.size > MAX_GROUPS) {
      throw new PatternError('The pattern tells too many characters apart: write ranges such as `a-z`')
    }
    this.#firsts = [...firsts].sort((a, b) => a - b)
    this.#isWord = this.#firsts.map((first) => isIn(WORD, first))
    for (let point = 0; point < 128; point++) this.ascii[point] = this.groupOf(point)
  }

  get size(): number {
    return this.#firsts.length
  }

  isWord(group: number): boolean {
    return this.#isWord[group]!
  }

  /** Which groups are in the set, as ones. `ranges` is one of those that the alphabet was made of. */
  membersOf(ranges: readonly Range[]): Uint8Array {
    const members = new Uint8Array(this.size)
    for (const [low, high] of ranges) members.fill(1, this.groupOf(low), this.groupOf(high) + 1)
    return members
  }

  groupOf(point: number): number {
    let low = 0
    let high = this.#firsts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#firsts[middle]! <= point) low = middle
      else high = middle - 1
    }
    return low
  }
}
