import { boundaryAfter, boundaryBefore, decodeLossy } from '../utf8.ts'
import { LINE_MAX_BYTES } from './result-limits.ts'

const LF = 0x0a
const CR = 0x0d

/** What is kept of a log at one moment. */
export interface LogSnapshot {
  readonly bytes: Uint8Array
  /** Of the first byte. */
  readonly offset: number
  /** How many lines had ended before it. */
  readonly lineEndsBefore: number
  /** The line that the first byte is in had begun before it. */
  readonly beginsInLine: boolean
}

/** Places in the bytes of a snapshot. `end` is before the line's end, `next` behind it. */
export interface LineSpan {
  readonly number: number
  readonly start: number
  readonly end: number
  readonly next: number
}

export interface LogLine {
  /** From 1, counted from the first line that the process has ever said. */
  readonly line: number
  /** Of the first byte of the line that is kept. */
  readonly offset: number
  /** Without its end. */
  readonly text: string
  /** Bytes of the line that are kept and not shown, before and after the text. */
  readonly cutBefore: number
  readonly cutAfter: number
  /** The beginning of the line is no longer kept. */
  readonly isTail?: true
}

/** The line with this number that begins at `start`. A terminal ends its lines with CR LF. */
export function spanAt({ bytes }: LogSnapshot, number: number, start: number): LineSpan {
  const lineEnd = bytes.indexOf(LF, start)
  const next = lineEnd < 0 ? bytes.length : lineEnd + 1
  const end = lineEnd < 0 ? bytes.length : lineEnd
  return { number, start, end: end > start && bytes[end - 1] === CR ? end - 1 : end, next }
}

/** The line before this one, if any of it is kept. */
export function spanBefore(snapshot: LogSnapshot, { number, start }: LineSpan): LineSpan | undefined {
  return start === 0 ? undefined : spanAt(snapshot, number - 1, lineStart(snapshot.bytes, start - 1))
}

/** Where the line begins that this place is in. */
export function lineStart(bytes: Uint8Array, at: number): number {
  // From the end, if it were negative.
  return at === 0 ? 0 : bytes.lastIndexOf(LF, at - 1) + 1
}

/** The line as it is shown; what is too long for that, around `focus`. */
export function shownLine(snapshot: LogSnapshot, { number, start, end }: LineSpan, focus = start): LogLine {
  const { bytes, offset, beginsInLine } = snapshot
  const line = bytes.subarray(start, end)
  const first = Math.max(0, Math.min(focus - start - LINE_MAX_BYTES / 2, line.length - LINE_MAX_BYTES))
  const from = first === 0 ? 0 : boundaryNear(line, first, boundaryAfter)
  const to =
    from + LINE_MAX_BYTES < line.length ? boundaryNear(line, from + LINE_MAX_BYTES, boundaryBefore) : line.length
  const isTail = start === 0 && beginsInLine
  return {
    line: number,
    offset: offset + start,
    text: decodeLossy(line.subarray(from, to)),
    cutBefore: from,
    cutAfter: line.length - to,
    ...(isTail && { isTail }),
  }
}

/** In what is no UTF-8 a boundary may be far away, or nowhere. */
function boundaryNear(line: Uint8Array, at: number, boundary: (bytes: Uint8Array, at: number) => number): number {
  const place = boundary(line, at)
  return Math.abs(place - at) <= 3 ? place : at
}

/** What a line takes of an answer. */
export function shownBytes({ start, end }: LineSpan, { cutBefore, cutAfter }: LogLine): number {
  return end - start - cutBefore - cutAfter + 1
}
