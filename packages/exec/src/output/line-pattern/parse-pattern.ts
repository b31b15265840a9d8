import { ANY, type Range, withBothCases } from './code-points.ts'
import { PatternError } from './pattern-error.ts'
import { PatternReader } from './pattern-reader.ts'
import { readClass, readEscape } from './read-class.ts'

/** What a pattern consists of. */
export type PatternNode =
  /** One character of these. */
  | { readonly kind: 'one'; readonly ranges: readonly Range[] }
  | { readonly kind: 'at'; readonly place: 'start' | 'end' | 'edge' | 'no-edge' }
  | { readonly kind: 'all'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'either'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number }

const MAX_PATTERN = 1000
/** The parser calls itself for each group. */
const MAX_DEPTH = 50
const MAX_REPEAT = 1000

/**
 * Reads regular expressions that can be searched for in time in proportion to the text. What it takes means what it does
 * in JavaScript with the flag `u`, where that takes it, too; but `.` is any character of a line, and `(?i)` at the
 * beginning ignores case. Back references, look-around, `\p` and `\c` are refused, as is whatever else it does not know.
 */
export function parsePattern(pattern: string): PatternNode {
  if (pattern.length > MAX_PATTERN) {
    throw new PatternError(
      `The pattern has ${pattern.length} characters, and ${MAX_PATTERN} is the most: search for less`,
    )
  }
  const reader = new PatternReader(pattern)
  const parser = new Parser(reader, reader.take('(?i)'))
  const node = parser.either(0)
  if (!reader.isAtEnd) throw reader.error('`)` without a group: write `\\)` for the character')
  return node
}

class Parser {
  readonly #reader: PatternReader
  readonly #ignoreCase: boolean

  constructor(reader: PatternReader, ignoreCase: boolean) {
    this.#reader = reader
    this.#ignoreCase = ignoreCase
  }

  either(depth: number): PatternNode {
    const options = [this.#all(depth)]
    while (this.#reader.take('|')) options.push(this.#all(depth))
    return options.length === 1 ? options[0]! : { kind: 'either', options }
  }

  #all(depth: number): PatternNode {
    const parts: PatternNode[] = []
    while (!this.#reader.isAtEnd && !this.#reader.isAt('|') && !this.#reader.isAt(')')) {
      parts.push(this.#repeated(this.#part(depth)))
    }
    return { kind: 'all', parts }
  }

  #part(depth: number): PatternNode {
    const reader = this.#reader
    if (reader.take('(')) return this.#group(depth + 1)
    if (reader.take('^')) return { kind: 'at', place: 'start' }
    if (reader.take('$')) return { kind: 'at', place: 'end' }
    if (reader.take('\\b')) return { kind: 'at', place: 'edge' }
    if (reader.take('\\B')) return { kind: 'at', place: 'no-edge' }
    if (reader.take('.')) return { kind: 'one', ranges: ANY }
    if (reader.take('[')) return { kind: 'one', ranges: readClass(reader, this.#ignoreCase) }
    if (reader.isAt('*') || reader.isAt('+') || reader.isAt('?')) {
      throw reader.error('nothing to repeat: write a `\\` before it for the character')
    }
    const ranges = reader.take('\\') ? readEscape(reader) : one(reader.next())
    return { kind: 'one', ranges: this.#ignoreCase ? withBothCases(ranges) : ranges }
  }

  #group(depth: number): PatternNode {
    const reader = this.#reader
    if (depth > MAX_DEPTH) throw reader.error(`groups are nested more than ${MAX_DEPTH} deep`)
    if (reader.take('?') && !reader.take(':') && !reader.takeMatch(/<[A-Za-z_$][\w$]*>/y)) {
      throw reader.error('look-around and flags inside are not supported: write `(?:…)`, or `(?i)` at the beginning')
    }
    const node = this.either(depth)
    if (!reader.take(')')) throw reader.error('a group that is never closed: write `\\(` for the character')
    // Of its own, so that a place in parentheses can be followed by a quantifier.
    return { kind: 'all', parts: [node] }
  }

  #repeated(part: PatternNode): PatternNode {
    const reader = this.#reader
    const counts = reader.takeMatch(/\*|\+|\?|\{\d+(,\d*)?\}/y)
    if (counts === undefined) return part
    if (part.kind === 'at') throw reader.error('a place, such as `^` or `\\b`, cannot be repeated')
    // Lazy or not makes no difference to whether a line matches.
    reader.take('?')
    const [min, max] = limitsOf(counts)
    if (min > max) throw reader.error(`\`${counts}\` goes backwards`)
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw reader.error(`\`${counts}\` repeats more than ${MAX_REPEAT} times`)
    }
    return { kind: 'repeat', part, min, max }
  }
}

function limitsOf(counts: string): readonly [number, number] {
  switch (counts) {
    case '*':
      return [0, Infinity]
    case '+':
      return [1, Infinity]
    case '?':
      return [0, 1]
    default: {
      const [min, max = min] = counts.slice(1, -1).split(',')
      return [Number(min), max === '' ? Infinity : Number(max)]
    }
  }
}

function one(point: number): readonly Range[] {
  return [[point, point]]
}
