import { shortened } from '../output/shortened.ts'
import { foldLine } from './find-lines.ts'

/** What is looked at, of the file and of what was expected there. */
const MAX_LINES = 100_000
const MAX_WANTED = 64
const MAX_CHARACTERS = 160
/** Pairs of letters that are compared, at most. */
const MAX_PAIRS = 4_000_000
const SHOWN_LINES = 8
const ALIKE = 0.4

/** The place in a file that looks most like what was expected, with its line numbers; empty if none does. */
export function nearestLines(lines: readonly string[], wanted: readonly string[]): string {
  const start = bySameLines(lines, wanted) ?? bySimilarLine(lines, wanted)
  if (start === undefined) return ''
  const shown = lines.slice(start, start + Math.min(SHOWN_LINES, Math.max(wanted.length, 3)))
  const rows = shown.map((line, index) => `${String(start + index + 1).padStart(6)} | ${shownLine(line)}`)
  return `The nearest lines there are:\n${rows.join('\n')}`
}

/** Each line that is in both votes for where the first one would be. */
function bySameLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const indexes = new Map<string, number>()
  for (const [index, line] of wanted.slice(0, MAX_WANTED).entries()) {
    const folded = foldLine(line)
    if (/\w/.test(folded) && !indexes.has(folded)) indexes.set(folded, index)
  }
  const votes = new Map<number, number>()
  let best: number | undefined
  for (let at = 0; at < Math.min(lines.length, MAX_LINES); at++) {
    const index = indexes.get(foldLine(lines[at]!))
    if (index === undefined) continue
    const start = Math.max(0, at - index)
    votes.set(start, (votes.get(start) ?? 0) + 1)
    if (best === undefined || votes.get(start)! > votes.get(best)!) best = start
  }
  return best
}

function bySimilarLine(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const offset = wanted.findIndex((line) => line.trim() !== '')
  if (offset === -1) return undefined
  const expected = pairsOf(wanted[offset]!)
  let [best, at] = [ALIKE, -1]
  for (let index = 0, pairs = 0; index < Math.min(lines.length, MAX_LINES) && pairs < MAX_PAIRS; index++) {
    const own = pairsOf(lines[index]!)
    pairs += own.size
    let common = 0
    for (const pair of own) if (expected.has(pair)) common++
    const likeness = (2 * common) / (own.size + expected.size)
    if (likeness > best) [best, at] = [likeness, index]
  }
  return at === -1 ? undefined : Math.max(0, at - offset)
}

function pairsOf(line: string): Set<string> {
  const text = foldLine(line.slice(0, MAX_CHARACTERS)).toLowerCase()
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)))
}

/** A line of a file in an error. */
export function shownLine(line: string): string {
  return shortened(line, MAX_CHARACTERS)
}
