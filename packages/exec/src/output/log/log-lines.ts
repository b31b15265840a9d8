import { countLineEnds, countLines } from '../count-lines.ts'
import { type LogLine, type LogSnapshot, lineStart, shownBytes, shownLine, spanAt } from './log-snapshot.ts'
import { RESULT_MAX_BYTES, wholeNumber } from './result-limits.ts'

const LF = 0x0a
const MAX_LINES = 2000

export interface LineOptions {
  /** The first line, from 1; or from the end, with -1 for the last one. */
  readonly from: number
  readonly count: number
}

export interface LineResult {
  readonly lines: readonly LogLine[]
  /** Lines that were asked for, and of which nothing is kept any more. */
  readonly missingLines: number
  /** All that the process has ever said, one that has not ended among them. */
  readonly totalLines: number
  /** Where to go on, if there is more. */
  readonly nextLine?: number
  /** Bytes of the process that are no longer kept. */
  readonly droppedBytes: number
}

export function linesOfLog(snapshot: LogSnapshot, { from, count }: LineOptions): LineResult {
  const { bytes, offset, lineEndsBefore } = snapshot
  if (from === 0) throw new RangeError('`from` is 0: lines are counted from 1, or from -1 backwards')
  wholeNumber('from', Math.abs(from), 1)
  wholeNumber('count', count, 1)
  const totalLines = lineEndsBefore + countLines(bytes)
  const asked = from > 0 ? from : Math.max(1, totalLines + 1 + from)
  const first = Math.max(asked, lineEndsBefore + 1)
  const lines: LogLine[] = []
  let room = RESULT_MAX_BYTES
  const last = Math.min(totalLines, asked + Math.min(count, Number.MAX_SAFE_INTEGER - asked) - 1)
  let next = first
  let start = first <= last ? startOfLine(snapshot, first, totalLines) : 0
  for (; next <= last && lines.length < MAX_LINES; next++) {
    const span = spanAt(snapshot, next, start)
    const line = shownLine(snapshot, span)
    room -= shownBytes(span, line)
    if (room < 0) break
    lines.push(line)
    start = span.next
  }
  return {
    lines,
    missingLines: Math.max(0, Math.min(lineEndsBefore, last) - asked + 1),
    totalLines,
    ...(next <= totalLines && first <= totalLines && { nextLine: next }),
    droppedBytes: offset,
  }
}

function startOfLine({ bytes, lineEndsBefore }: LogSnapshot, line: number, totalLines: number): number {
  if (totalLines - line < MAX_LINES) {
    let start = lineStart(bytes, bytes.length - 1)
    for (let number = totalLines; number > line; number--) start = lineStart(bytes, start - 1)
    return start
  }
  let toSkip = line - lineEndsBefore - 1
  let at = 0
  for (; toSkip > 0; at++) if (bytes[at] === LF) toSkip--
  return at
}

/** The number of the line that this place is in. */
export function lineNumberAt({ bytes, lineEndsBefore }: LogSnapshot, at: number): number {
  return lineEndsBefore + countLineEnds(bytes.subarray(0, at)) + 1
}
