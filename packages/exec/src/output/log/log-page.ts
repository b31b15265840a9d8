import { decodeLossy, incompleteBytes } from '../utf8.ts'
import { RESULT_MAX_BYTES, wholeNumber } from './result-limits.ts'

export interface PageOptions {
  /** The first byte; 0 is the first that the process has ever said. */
  readonly offset: number
  /** As many as one answer may have if nothing is said. */
  readonly maxBytes?: number | undefined
}

export interface LogPage {
  readonly text: string
  /** Of the first byte that is shown. */
  readonly offset: number
  /** Where to go on reading. */
  readonly nextOffset: number
  /** Bytes that were asked for and are no longer kept. */
  readonly missingBytes: number
  /** Everything that was ever said: the offset of what comes next. */
  readonly totalBytes: number
}

/** `copy` gives the bytes between two offsets that are between `start` and `end`. */
export function pageOfLog(
  options: PageOptions,
  start: number,
  end: number,
  copy: (from: number, to: number) => Uint8Array,
): LogPage {
  const asked = wholeNumber('offset', options.offset, 0)
  const maxBytes = Math.min(wholeNumber('maxBytes', options.maxBytes ?? RESULT_MAX_BYTES, 1), RESULT_MAX_BYTES)
  const offset = Math.min(Math.max(asked, start), end)
  const bytes = copy(offset, Math.min(end, offset + maxBytes))
  // Not through a character, unless there would be nothing left then: whoever goes on reading has to get somewhere.
  const length = bytes.length - incompleteBytes(bytes, bytes.length) || bytes.length
  return {
    text: decodeLossy(bytes.subarray(0, length)),
    offset,
    nextOffset: offset + length,
    missingBytes: Math.max(0, start - asked),
    totalBytes: end,
  }
}
