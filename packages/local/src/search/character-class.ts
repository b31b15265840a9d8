import { casedLetters, caseVariants } from './case-variants.ts'

export type Range = readonly [first: number, last: number]

const LAST_POINT = 0x10ffff
/** Surrogates are no characters: nothing contains them, and so no negation does. */
const NO_CHARACTERS: Range = [0xd800, 0xdfff]
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
]

/** A set of characters as sorted ranges that neither overlap nor touch. */
export function normalize(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0])
  const merged: Range[] = []
  for (const [first, last] of sorted) {
    const previous = merged.at(-1)
    if (previous && first <= previous[1] + 1) merged[merged.length - 1] = [previous[0], Math.max(previous[1], last)]
    else merged.push([first, last])
  }
  return merged
}

/** Everything else, but no line end: what does not ask for one does not get one. */
export function negate(ranges: readonly Range[]): Range[] {
  const outside: Range[] = []
  let next = 0
  for (const [first, last] of normalize([...ranges, ...LINE_ENDS, NO_CHARACTERS])) {
    if (first > next) outside.push([next, first - 1])
    next = last + 1
  }
  if (next <= LAST_POINT) outside.push([next, LAST_POINT])
  return outside
}

export function without(ranges: readonly Range[], point: number): Range[] {
  const rest: Range[] = []
  for (const [first, last] of ranges) {
    if (first < point) rest.push([first, Math.min(last, point - 1)])
    if (last > point) rest.push([Math.max(first, point + 1), last])
  }
  return rest
}

/** With the other case of every letter. */
export function foldCase(ranges: readonly Range[]): Range[] {
  const folded: Range[] = [...ranges]
  const add = (letter: number) => {
    for (const variant of caseVariants(letter)) folded.push([variant, variant])
  }
  for (const [first, last] of ranges) {
    if (first === last) add(first)
    else for (const letter of casedLetters()) if (letter >= first && letter <= last) add(letter)
  }
  return normalize(folded)
}

/** In the notation that JavaScript and Rust read alike. */
export function writeClass(ranges: readonly Range[]): string {
  const [only] = ranges
  if (only && ranges.length === 1 && only[0] === only[1]) return writeCharacter(only[0])
  const members = ranges.map(([first, last]) =>
    first === last ? writeCharacter(first) : `${writeCharacter(first)}-${writeCharacter(last)}`,
  )
  return `[${members.join('')}]`
}

function writeCharacter(point: number): string {
  const character = String.fromCodePoint(point)
  return /^[0-9A-Za-z_ ]$/.test(character) ? character : `\\u{${point.toString(16)}}`
}
