import { HeadTailBuffer } from '../output/head-tail-buffer.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import { decodeLossy } from '../output/utf8.ts'
import { Utf8Splitter } from '../output/utf8-splitter.ts'

/** How much of one process is told as it comes. The rest is in its log, and at its end. */
const MAX_DELTAS = 10_000

/** What was said since the last answer. */
export interface Unread {
  readonly output: HeadTailBuffer
  /** Where in the log it begins. */
  readonly offset: number
  /** What the executor could not keep until we read it. */
  readonly droppedBytes: number
}

/** What one process has said: all of it as far as it is kept, what no answer has told yet, and what its end repeats. */
export class SessionOutput {
  readonly log: ProcessLog
  readonly #onDelta: (data: Uint8Array) => void
  readonly #splitter = new Utf8Splitter()
  readonly #transcript = new HeadTailBuffer()
  readonly #unread = new HeadTailBuffer()
  #droppedUnread = 0
  #dropped = 0
  #taken = 0
  #deltas = 0
  #isOver = false

  /** `onDelta` is given pieces of text as they come. */
  constructor(log: ProcessLog, onDelta: (data: Uint8Array) => void) {
    this.log = log
    this.#onDelta = onDelta
  }

  /** Where in the log begins what no answer has told yet. */
  get takenTo(): number {
    return this.#taken
  }

  push(data: Uint8Array, droppedBytes: number): void {
    this.#droppedUnread += droppedBytes
    this.#unread.push(data)
    this.log.push(data)
    if (this.#isOver) return
    this.#dropped += droppedBytes
    this.#transcript.push(data)
    for (const delta of this.#splitter.push(data)) this.#delta(delta)
  }

  takeUnread(): Unread {
    const unread = { output: this.#unread.drain(), offset: this.#taken, droppedBytes: this.#droppedUnread }
    this.#droppedUnread = 0
    this.#taken += unread.output.totalBytes
    return unread
  }

  /** Everything so far, but for the middle of what is too much. What comes later is for answers and for the log. */
  end(): { readonly output: string; readonly omittedBytes: number } {
    this.#isOver = true
    for (const delta of this.#splitter.end()) this.#delta(delta)
    // Not kept any longer: many ended processes are.
    const said = this.#transcript.drain()
    return { output: decodeLossy(said.markedBytes()), omittedBytes: said.omittedBytes + this.#dropped }
  }

  #delta(data: Uint8Array): void {
    if (this.#deltas++ < MAX_DELTAS) this.#onDelta(data)
  }
}
