import { characterBytes, isContinuation } from '../utf8.ts'

/** Code points, from and to, both included. */
export type Range = readonly [number, number]

export const LAST_CODE_POINT = 0x10ffff

export const ANY: readonly Range[] = [[0, LAST_CODE_POINT]]
export const DIGITS: readonly Range[] = [[0x30, 0x39]]
export const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
export const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

export function isIn(ranges: readonly Range[], point: number): boolean {
  return ranges.some(([low, high]) => low <= point && point <= high)
}

/** The same, ascending, without overlaps. */
export function normalized(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = []
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high)
    else merged.push([low, high])
  }
  return merged
}

/** Everything else. */
export function complement(ranges: readonly Range[]): Range[] {
  const others: Range[] = []
  let next = 0
  for (const [low, high] of normalized(ranges)) {
    if (low > next) others.push([next, low - 1])
    next = high + 1
  }
  if (next <= LAST_CODE_POINT) others.push([next, LAST_CODE_POINT])
  return others
}

/** Longer ranges are not of letters of one alphabet, and the cases of their letters are not looked up. */
const FOLDED_RANGE = 256

/** The same letters in either case, besides the given ones. */
export function withBothCases(ranges: readonly Range[]): Range[] {
  const both: Range[] = [...ranges]
  for (const [low, high] of ranges) {
    if (high - low >= FOLDED_RANGE) continue
    for (let point = low; point <= high; point++) {
      const letter = String.fromCodePoint(point)
      for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
        const folded = other.codePointAt(0)!
        // `ß` has a capital of two letters, which no single place can match.
        if (folded !== point && other.length === String.fromCodePoint(folded).length) both.push([folded, folded])
      }
    }
  }
  return normalized(both)
}

/** How many bytes the character at `at` has; 1 for what is no UTF-8. */
export function widthAt(bytes: Uint8Array, at: number, end: number): number {
  const width = characterBytes(bytes[at]!)
  if (at + width > end) return 1
  for (let i = 1; i < width; i++) if (!isContinuation(bytes[at + i]!)) return 1
  return width
}

/** The code point of a character of this width; what is no UTF-8 is a replacement character. */
export function pointAt(bytes: Uint8Array, at: number, width: number): number {
  if (width === 1) return bytes[at]! < 0x80 ? bytes[at]! : 0xfffd
  let point = bytes[at]! & (0x7f >> width)
  for (let i = 1; i < width; i++) point = (point << 6) | (bytes[at + i]! & 0x3f)
  return point
}
