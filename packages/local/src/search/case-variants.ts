/** Beyond these there are no letters with a case. */
const LAST_CASED = 0x1ffff
/** The Turkish letters: their other case is `i` or `I` in one language and not in others. */
const DOTTED_CAPITAL_I = 0x130
const DOTLESS_SMALL_I = 0x131

let table: ReadonlyMap<number, readonly number[]> | undefined

/**
 * The letters that differ from this one in nothing but their case, with the letter itself. That is Unicode's simple
 * case folding: one character for one, so `ß` is not `SS`.
 */
export function caseVariants(point: number): readonly number[] {
  table ??= buildTable()
  return table.get(point) ?? [point]
}

/** All letters that have variants. */
export function casedLetters(): Iterable<number> {
  table ??= buildTable()
  return table.keys()
}

function buildTable(): Map<number, readonly number[]> {
  const variants = new Map<number, number[]>()
  const points = Array.from({ length: LAST_CASED + 1 }, (_, point) => String.fromCodePoint(point))
  for (const [letter] of points.join('').matchAll(/\p{Changes_When_Casemapped}/gu)) {
    const point = letter.codePointAt(0)!
    if (point === DOTTED_CAPITAL_I || point === DOTLESS_SMALL_I) continue
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      const otherPoint = other.codePointAt(0)!
      if (other !== letter && other.length === (otherPoint > 0xffff ? 2 : 1)) join(variants, point, otherPoint)
    }
  }
  return variants
}

function join(variants: Map<number, number[]>, a: number, b: number): void {
  const joined = [...new Set([...(variants.get(a) ?? [a]), ...(variants.get(b) ?? [b])])]
  for (const point of joined) variants.set(point, joined)
}
