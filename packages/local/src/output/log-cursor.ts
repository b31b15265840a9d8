import type { OutputLog, StoredSegment } from './output-log.ts'
import type { EventKind, Segment } from './segment.ts'

export interface LogEvent {
  readonly seq: number
  readonly kind: EventKind
  /** A view that is good until the caller returns to the event loop; empty unless this is output that is still there. */
  readonly data: Uint8Array
  /** Bytes of output that the reader was to see here or shortly after, and that are gone. */
  readonly droppedBytes: number
}

/** A reader's place in a log. It sees every event once and in order; events that were dropped it sees without data. */
export class LogCursor {
  readonly #log: OutputLog
  #seq: number
  #byteOffset: number
  #stored: StoredSegment | undefined
  #fetched: Segment | undefined

  /** `byteOffset`: how much output came up to `afterSeq`, where the caller knows it better than the log does any more. */
  constructor(log: OutputLog, afterSeq: number, byteOffset?: number) {
    this.#log = log
    this.#seq = afterSeq + 1
    const stored = this.#seq < log.nextSeq ? log.segmentOf(this.#seq) : undefined
    // Where the segment is on disk, its start must do until it has been fetched.
    const known = stored
      ? stored.startByte + (stored.memory?.offsetOf(this.#seq - stored.firstSeq) ?? 0)
      : log.outputBytes
    this.#byteOffset = byteOffset ?? known
  }

  /** The number of the event that comes next. */
  get seq(): number {
    return this.#seq
  }

  /** How much output came before it. */
  get byteOffset(): number {
    return this.#byteOffset
  }

  get backlogBytes(): number {
    return this.#log.outputBytes - this.#byteOffset
  }

  /** The next event; a promise to wait for before asking again if it is on disk; undefined if there is none yet. */
  peek(): LogEvent | Promise<void> | undefined {
    if (this.#seq >= this.#log.nextSeq) return undefined
    let stored = this.#stored
    if (!stored || this.#seq < stored.firstSeq || this.#seq >= stored.firstSeq + stored.count || stored.dropped) {
      stored = this.#log.segmentOf(this.#seq)
      this.#leave(stored)
    }
    if (stored.dropped) {
      return {
        seq: this.#seq,
        kind: this.#seq === this.#log.exit?.seq ? 'exited' : this.#log.defaultStream,
        data: NO_DATA,
        droppedBytes: Math.max(0, stored.startByte + stored.bytes - this.#byteOffset),
      }
    }
    const segment = stored.memory ?? this.#fetched
    if (!segment) return this.#fetch(stored)
    const index = this.#seq - stored.firstSeq
    this.#byteOffset = stored.startByte + segment.offsetOf(index)
    return { seq: this.#seq, kind: segment.kindAt(index), data: segment.dataAt(index), droppedBytes: 0 }
  }

  /** Goes past the event that `peek` has just returned. */
  advance(event: LogEvent): void {
    this.#byteOffset += event.data.length + event.droppedBytes
    this.#seq = event.seq + 1
    this.#log.shown(event.seq, this)
  }

  /** Goes on at `seq` instead. */
  seek(seq: number): void {
    const there = new LogCursor(this.#log, seq - 1)
    this.#seq = there.#seq
    this.#byteOffset = there.#byteOffset
    this.#leave(undefined)
  }

  #leave(next: StoredSegment | undefined): void {
    if (this.#fetched) this.#log.release(this.#fetched)
    this.#fetched = undefined
    this.#stored = next
  }

  async #fetch(stored: StoredSegment): Promise<void> {
    const segment = await this.#log.fetch(stored)
    if (this.#stored === stored) this.#fetched = segment
  }
}

const NO_DATA = new Uint8Array()
