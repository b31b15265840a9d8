import { ANY_ONE, ANY_RUN, type CharacterSet, type NameToken } from './name-pattern.ts'

/** `[:alpha:]` and so on: ASCII on every machine, whatever its locale. */
const NAMED: Readonly<Record<string, string>> = {
  alnum: '09AZaz',
  alpha: 'AZaz',
  blank: '\t\t  ',
  cntrl: '\0\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '\t\r  ',
  upper: 'AZ',
  xdigit: '09AFaf',
}

/**
 * A pattern in the syntax of `.gitignore`, cut at its slashes: `*`, `?`, `[a-z]`, `[!a-z]`, `[[:alpha:]]`, and `\`
 * before a character that stands for itself. Undefined if it can match nothing, because a set or an escape is not
 * closed.
 */
export function parseGlob(source: string): NameToken[][] | undefined {
  let segment: NameToken[] = []
  const segments = [segment]
  for (let at = 0; at < source.length; ) {
    const point = source.codePointAt(at)!
    const next = at + widthOf(point)
    const character = source[at]
    if (character === '[') {
      const set = parseSet(source, next)
      if (!set) return undefined
      segment.push(set.set)
      at = set.end
      continue
    }
    if (character === '\\' && next === source.length) return undefined
    const literal = character === '\\' ? source.codePointAt(next)! : point
    at = character === '\\' ? next + widthOf(literal) : next
    if (literal === 0x2f) {
      segment = []
      segments.push(segment)
    } else if (character === '*') segment.push(ANY_RUN)
    else segment.push(character === '?' ? ANY_ONE : literal)
  }
  return segments
}

/** From behind its bracket. A `]` that comes first is a member, a `-` between two members makes a range. */
function parseSet(source: string, start: number): { set: CharacterSet; end: number } | undefined {
  const negated = source[start] === '!' || source[start] === '^'
  const ranges: [number, number][] = []
  const first = negated ? start + 1 : start
  let previous: number | undefined
  let at = first
  while (at < source.length) {
    if (source[at] === ']' && at > first) return { set: { negated, ranges }, end: at + 1 }
    const named = source.startsWith('[:', at) ? namedSet(source, at) : undefined
    if (named) {
      if (!named.ranges) return undefined
      ranges.push(...named.ranges)
      at = named.end
      previous = undefined
      continue
    }
    const range = previous !== undefined && source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']'
    if (range) at++
    if (source[at] === '\\') at++
    const point = source.codePointAt(at)
    if (point === undefined) return undefined
    at += widthOf(point)
    ranges.push([range ? previous! : point, point])
    previous = range ? undefined : point
  }
  return undefined
}

/** Undefined if this is no named set; without ranges if it is one that nobody knows. */
function namedSet(source: string, at: number): { ranges: [number, number][] | undefined; end: number } | undefined {
  const close = source.indexOf(']', at + 2)
  if (close < 0 || source[close - 1] !== ':' || close - 1 < at + 2) return undefined
  const bounds = NAMED[source.slice(at + 2, close - 1)]
  const ranges: [number, number][] = []
  for (let i = 0; bounds && i < bounds.length; i += 2) ranges.push([bounds.charCodeAt(i), bounds.charCodeAt(i + 1)])
  return { ranges: bounds ? ranges : undefined, end: close + 1 }
}

function widthOf(point: number): number {
  return point > 0xffff ? 2 : 1
}
