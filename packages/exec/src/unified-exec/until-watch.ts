import type { LinePattern } from '../output/line-pattern/line-pattern.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import { encodeUtf8 } from '../output/utf8.ts'
import type { Until } from './until.ts'

const LF = 0x0a
const CR = 0x0d
/** Of what came before the wait. An answer does not show more either. */
const MAX_PAST_BYTES = 1024 * 1024

/** Looks through output, as it comes, for what a call waits for. */
export class UntilWatch {
  readonly #until: Until | undefined
  /** A line that has not ended: more of it may come. */
  #line = new Uint8Array(0)

  constructor(until: Until | undefined) {
    this.#until = until
  }

  /** Whether it is in what was said from this offset on: otherwise what comes right before the wait would be missed. */
  sees(log: ProcessLog, since: number): boolean {
    if (this.#until?.kind === 'output') return log.totalBytes > since
    if (this.#until?.kind !== 'match') return false
    for (let offset = Math.max(since, log.totalBytes - MAX_PAST_BYTES); offset < log.totalBytes; ) {
      const page = log.read({ offset })
      if (this.push(encodeUtf8(page.text))) return true
      offset = page.nextOffset
    }
    return false
  }

  /** Whether it has come with this. */
  push(data: Uint8Array): boolean {
    if (this.#until?.kind === 'output') return data.length > 0
    if (this.#until?.kind !== 'match') return false
    this.#until.hasCome ||= this.#hasMatch(data, this.#until.pattern)
    return this.#until.hasCome
  }

  #hasMatch(data: Uint8Array, pattern: LinePattern): boolean {
    const bytes = joined(this.#line, data)
    let start = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      // A terminal ends its lines with CR LF.
      if (isIn(bytes, pattern, start, end > start && bytes[end - 1] === CR ? end - 1 : end)) return true
      start = end + 1
    }
    this.#line = bytes.slice(Math.max(start, bytes.length - pattern.maxLength))
    // The last one may not be complete; a prompt never is.
    return isIn(bytes, pattern, start, bytes.length)
  }
}

function isIn(bytes: Uint8Array, pattern: LinePattern, start: number, end: number): boolean {
  return pattern.search(bytes, start, end) !== undefined
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
