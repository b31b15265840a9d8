import { PatchError } from './patch-error.ts'

/** What one patch may take, over all its files, in bytes that are read and lines that are compared: some seconds. */
const MAX_EFFORT = 400_000_000

/** Shared by everything that is searched for one patch, which may be made to take forever. */
export class SearchEffort {
  #left = MAX_EFFORT

  spend(effort: number): void {
    this.#left -= effort
    if (this.#left < 0) {
      throw new PatchError('MISMATCH', 'it takes too long to find out where the hunks of this patch belong: split it')
    }
  }
}

/** How much two lines may differ, from not at all to quite a bit. Each is tried everywhere before the next. */
const LOOKS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  foldLine,
]

/** Without the difference between characters that look alike, and that models write for each other. */
export function foldLine(line: string): string {
  return line
    .trim()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
}

/** Finds lines among the lines of one file. */
export class LineFinder {
  readonly lines: readonly string[]
  readonly #effort: SearchEffort
  /** By look: lines that count as equal have the same number. */
  readonly #numbered: Numbered[] = []

  constructor(lines: readonly string[], effort: SearchEffort) {
    this.lines = lines
    this.#effort = effort
  }

  /** Where they first are, not before `from`. */
  find(wanted: readonly string[], from: number): number | undefined {
    return this.#inEachLook(wanted, (numbers, { lines }) => {
      const found = firstMatch(lines, numbers, from)
      this.#effort.spend((found ?? lines.length) - from + numbers.length)
      return found
    })
  }

  /** Whether they are the last ones, and none of them is before `from`. */
  findAtEnd(wanted: readonly string[], from: number): number | undefined {
    const start = this.lines.length - wanted.length
    if (start < from) return undefined
    return this.#inEachLook(wanted, (numbers, { lines }) => {
      this.#effort.spend(numbers.length)
      return numbers.every((number, index) => lines[start + index] === number) ? start : undefined
    })
  }

  #inEachLook(
    wanted: readonly string[],
    search: (numbers: readonly number[], numbered: Numbered) => number | undefined,
  ): number | undefined {
    for (const [index, look] of LOOKS.entries()) {
      this.#effort.spend(wanted.length)
      this.#numbered[index] ??= this.#number(look)
      const numbered = this.#numbered[index]
      const numbers = wanted.map((line) => numbered.numbers.get(look(line)) ?? -1)
      // A line that is nowhere need not be searched for.
      const found = numbers.includes(-1) ? undefined : search(numbers, numbered)
      if (found !== undefined) return found
    }
    return undefined
  }

  #number(look: (line: string) => string): Numbered {
    this.#effort.spend(this.lines.length)
    const numbers = new Map<string, number>()
    const lines = Int32Array.from(this.lines, (line) => {
      const seen = look(line)
      const known = numbers.get(seen) ?? numbers.size
      numbers.set(seen, known)
      return known
    })
    return { numbers, lines }
  }
}

interface Numbered {
  readonly numbers: ReadonlyMap<string, number>
  readonly lines: Int32Array
}

/** Knuth, Morris and Pratt: however often the lines repeat, each is looked at once or twice. */
function firstMatch(lines: Int32Array, wanted: readonly number[], from: number): number | undefined {
  const borders = new Int32Array(wanted.length)
  for (let index = 1, border = 0; index < wanted.length; index++) {
    while (border > 0 && wanted[index] !== wanted[border]) border = borders[border - 1]!
    if (wanted[index] === wanted[border]) border++
    borders[index] = border
  }
  for (let index = from, matched = 0; index < lines.length; index++) {
    while (matched > 0 && lines[index] !== wanted[matched]) matched = borders[matched - 1]!
    if (lines[index] === wanted[matched]) matched++
    if (matched === wanted.length) return index - matched + 1
  }
  return undefined
}
