import {
  complement,
  DIGITS,
  LAST_CODE_POINT,
  normalized,
  type Range,
  SPACE,
  WORD,
  withBothCases,
} from './code-points.ts'
import type { PatternReader } from './pattern-reader.ts'

const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
}
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d, 0: 0 }

/** Reads what follows a `[`. */
export function readClass(reader: PatternReader, ignoreCase: boolean): readonly Range[] {
  const isNegated = reader.take('^')
  if (reader.isAt(']')) throw reader.error('an empty class: write `[\\]]` for the character')
  const ranges: Range[] = []
  while (!reader.take(']')) {
    if (reader.isAtEnd) throw reader.error('a class that is never closed: write `\\[` for the character')
    // Read character by character, it would mean something else than whoever wrote it believes.
    if (reader.isAt('[:')) throw reader.error('a class with a name: write `\\d`, `\\w`, `\\s` or `a-zA-Z`')
    const first = readMember(reader)
    if (!reader.isAt('-') || reader.isAt('-]')) {
      ranges.push(...first)
      continue
    }
    reader.take('-')
    const low = only(first, reader)
    const high = only(readMember(reader), reader)
    if (low > high) throw reader.error('a range that goes backwards')
    ranges.push([low, high])
  }
  const all = ignoreCase ? withBothCases(ranges) : normalized(ranges)
  return isNegated ? complement(all) : all
}

/** Reads what follows a `\`: one character, or a class of them. */
export function readEscape(reader: PatternReader): readonly Range[] {
  const hex = reader.takeMatch(/x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|u\{[\dA-Fa-f]{1,6}\}/y)
  if (hex !== undefined) {
    const point = Number.parseInt(hex.replace(/[xu{}]/g, ''), 16)
    if (point > LAST_CODE_POINT) throw reader.error(`\`\\${hex}\` is no character`)
    return [[point, point]]
  }
  const point = reader.next()
  const letter = String.fromCodePoint(point)
  if (Object.hasOwn(CLASSES, letter)) return CLASSES[letter]!
  if (Object.hasOwn(CONTROLS, letter)) return [[CONTROLS[letter]!, CONTROLS[letter]!]]
  if (/[1-9k]/.test(letter)) throw reader.error('back references are not supported: write out what has to follow')
  if (/[A-Za-z]/.test(letter)) throw reader.error(`\`\\${letter}\` is not supported: write the characters in a class`)
  return [[point, point]]
}

function readMember(reader: PatternReader): readonly Range[] {
  // In a class there are no edges of words.
  if (reader.take('\\b')) return [[0x08, 0x08]]
  if (reader.take('\\')) return readEscape(reader)
  const point = reader.next()
  return [[point, point]]
}

function only(ranges: readonly Range[], reader: PatternReader): number {
  const [range] = ranges
  if (ranges.length !== 1 || range === undefined || range[0] !== range[1]) {
    throw reader.error('a range that begins or ends with a class: write `\\-` for the character')
  }
  return range[0]
}
