import { LinePattern } from '../line-pattern/line-pattern.ts'
import { lineNumberAt } from './log-lines.ts'
import {
  type LineSpan,
  type LogLine,
  type LogSnapshot,
  lineStart,
  shownBytes,
  shownLine,
  spanAt,
  spanBefore,
} from './log-snapshot.ts'
import { RESULT_MAX_BYTES, wholeNumber } from './result-limits.ts'

const DEFAULT_MATCHES = 100
const MAX_MATCHES = 1000
/** So that a match always fits with the lines around it. */
const MAX_CONTEXT = 10
/** What one call looks at, in bytes: a tenth of a second. */
const MAX_SEARCHED = 16 * 1024 * 1024
/** What a line costs besides its bytes. A log can have millions of empty ones. */
const LINE_COST = 16

export interface GrepOptions {
  /** See `LinePattern`. */
  readonly pattern: string
  readonly maxMatches?: number | undefined
  /** Lines before and after each match that are shown, too. */
  readonly context?: number | undefined
  /** Only lines from this one on: `nextOffset` of the search before. */
  readonly offset?: number | undefined
}

interface GrepLine extends LogLine {
  readonly isMatch: boolean
}

export interface GrepResult {
  /** Matches and the lines around them, in order, each once. */
  readonly lines: readonly GrepLine[]
  /** How many of them are matches. */
  readonly matches: number
  readonly searchedBytes: number
  /** Where to go on searching, if not everything was searched. */
  readonly nextOffset?: number
  /** Bytes from there to the end. */
  readonly unsearchedBytes: number
  /** What was in between and too hard for the pattern: bytes that were skipped. */
  readonly skippedBytes: number
  /** Bytes that were asked for and are no longer kept. */
  readonly missingBytes: number
}

interface Match {
  readonly span: LineSpan
  /** Where it was seen. */
  readonly at: number
}

export function grepLog(snapshot: LogSnapshot, options: GrepOptions): GrepResult {
  const { bytes, offset } = snapshot
  const pattern = LinePattern.parse(options.pattern)
  const maxMatches = Math.min(wholeNumber('maxMatches', options.maxMatches ?? DEFAULT_MATCHES, 1), MAX_MATCHES)
  const context = wholeNumber('context', options.context ?? 0, 0, MAX_CONTEXT)
  const asked = wholeNumber('offset', options.offset ?? 0, 0)
  const first = lineStart(bytes, Math.min(Math.max(asked - offset, 0), bytes.length))
  const found = search(snapshot, pattern, { first, maxMatches })
  const { lines, shown } = withContext(snapshot, found.matches, context)
  // What was found and does not fit is found again.
  const next = found.matches[shown]?.span.start ?? found.next
  return {
    lines,
    matches: shown,
    searchedBytes: next - first - found.skipped,
    ...(next < bytes.length && { nextOffset: offset + next }),
    unsearchedBytes: bytes.length - next,
    skippedBytes: found.skipped,
    missingBytes: Math.max(0, offset - asked),
  }
}

function search(
  snapshot: LogSnapshot,
  pattern: LinePattern,
  { first, maxMatches }: { first: number; maxMatches: number },
): { matches: readonly Match[]; next: number; skipped: number } {
  const { bytes } = snapshot
  const matches: Match[] = []
  let number = lineNumberAt(snapshot, first)
  let next = first
  let searched = 0
  while (next < bytes.length && matches.length < maxMatches && searched < MAX_SEARCHED) {
    const span = spanAt(snapshot, number, next)
    const at = pattern.search(bytes, span.start, span.end)
    if (pattern.isSpent) {
      // A line that is too hard by itself would be so the next time, too.
      const skipped = span.start === first ? span.next - span.start : 0
      return { matches, next: span.start + skipped, skipped }
    }
    if (at !== undefined) matches.push({ span, at })
    searched += span.next - span.start + LINE_COST
    next = span.next
    number++
  }
  return { matches, next, skipped: 0 }
}

function withContext(
  snapshot: LogSnapshot,
  matches: readonly Match[],
  context: number,
): { lines: readonly GrepLine[]; shown: number } {
  const lines: GrepLine[] = []
  let room = RESULT_MAX_BYTES
  for (const [i, { span, at }] of matches.entries()) {
    const shownTo = lines.at(-1)?.line ?? 0
    const spans = [...linesBefore(snapshot, span, context, shownTo), span]
    spans.push(...linesAfter(snapshot, span, context, matches[i + 1]?.span.number))
    for (const each of spans) {
      const isMatch = each === span
      const line = { ...shownLine(snapshot, each, isMatch ? at : undefined), isMatch }
      room -= shownBytes(each, line)
      if (room < 0) return { lines: lines.filter(({ line }) => line <= shownTo), shown: i }
      lines.push(line)
    }
  }
  return { lines, shown: matches.length }
}

/** Not those up to `shownTo`. */
function linesBefore(snapshot: LogSnapshot, span: LineSpan, context: number, shownTo: number): LineSpan[] {
  const spans: LineSpan[] = []
  let before = spanBefore(snapshot, span)
  while (before && spans.length < context && before.number > shownTo) {
    spans.unshift(before)
    before = spanBefore(snapshot, before)
  }
  return spans
}

/** Not from the next match on, if there is one. */
function linesAfter(snapshot: LogSnapshot, span: LineSpan, context: number, nextMatch = Infinity): LineSpan[] {
  const spans: LineSpan[] = []
  let last = span
  while (spans.length < context && last.next < snapshot.bytes.length && last.number + 1 < nextMatch) {
    last = spanAt(snapshot, last.number + 1, last.next)
    spans.push(last)
  }
  return spans
}
