/** Lines `a[aStart, aEnd)` that have become `b[bStart, bEnd)`. */
export interface Difference {
  readonly aStart: number
  readonly aEnd: number
  readonly bStart: number
  readonly bEnd: number
}

/** Inside of differences there may be others, which are told apart only so far. */
const MAX_DEPTH = 16

/**
 * What is different, from top to bottom. Lines that occur once on both sides hold it together (as in patience diff):
 * what is found may be more than necessary, but is found in time however large and repetitive the text is.
 */
export function differences(a: readonly string[], b: readonly string[]): Difference[] {
  const found: Difference[] = []
  compare({ aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }, MAX_DEPTH)
  return found

  function compare(range: Difference, depth: number): void {
    let { aStart, aEnd, bStart, bEnd } = range
    while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
      aStart++
      bStart++
    }
    while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
      aEnd--
      bEnd--
    }
    if (aStart === aEnd && bStart === bEnd) return
    const trimmed = { aStart, aEnd, bStart, bEnd }
    const anchors = aStart < aEnd && bStart < bEnd && depth > 0 ? anchorsIn(a, b, trimmed) : []
    if (anchors.length === 0) {
      found.push(trimmed)
      return
    }
    for (const [x, y] of [...anchors, [aEnd, bEnd] as const]) {
      compare({ aStart, aEnd: x, bStart, bEnd: y }, depth - 1)
      aStart = x + 1
      bStart = y + 1
    }
  }
}

type Anchor = readonly [a: number, b: number]

/** Lines that are there once on both sides, as many of them as are in the same order. */
function anchorsIn(a: readonly string[], b: readonly string[], range: Difference): Anchor[] {
  const inA = uniqueLines(a, range.aStart, range.aEnd)
  const inB = uniqueLines(b, range.bStart, range.bEnd)
  const pairs: Anchor[] = []
  for (const [line, at] of inA) {
    const other = inB.get(line)
    if (at !== -1 && other !== undefined && other !== -1) pairs.push([at, other])
  }
  return longestAscending(pairs)
}

/** By line: where it is, or -1 if in several places. In the order of the text. */
function uniqueLines(lines: readonly string[], start: number, end: number): Map<string, number> {
  const unique = new Map<string, number>()
  for (let at = start; at < end; at++) unique.set(lines[at]!, unique.has(lines[at]!) ? -1 : at)
  return unique
}

/** By patience sorting: pairs ascend in `a`, and the longest chain of them that also ascends in `b` is wanted. */
function longestAscending(pairs: readonly Anchor[]): Anchor[] {
  const before = new Int32Array(pairs.length).fill(-1)
  /** By length: the pair that ends the chain of that length with the smallest `b`. */
  const ends: number[] = []
  for (const [index, [, b]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (pairs[ends[middle]!]![1] < b) low = middle + 1
      else high = middle
    }
    if (low > 0) before[index] = ends[low - 1]!
    ends[low] = index
  }
  const chain: Anchor[] = []
  for (let index = ends.at(-1) ?? -1; index !== -1; index = before[index]!) chain.push(pairs[index]!)
  return chain.reverse()
}
