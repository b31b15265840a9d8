import type { OutputStream } from '@waldo/protocol'

export type EventKind = OutputStream | 'exited' | 'closed'

const KINDS: readonly EventKind[] = ['stdout', 'stderr', 'pty', 'exited', 'closed']
const KINDS_BITS = 3
const MARK_BYTES = 4

/**
 * A run of consecutive events: the unit in which a log is kept, written to its file, read back and dropped.
 * The bytes of all its events lie in one buffer; a mark for each event says where they end and what they are.
 */
export class Segment {
  static readonly maxBytes = 256 * 1024
  static readonly maxEvents = 4096
  /** The largest that a segment becomes in a file. */
  static readonly slotBytes = Segment.maxBytes + Segment.maxEvents * MARK_BYTES

  readonly firstSeq: number
  #buffer: Uint8Array
  #used = 0
  #marks: number[] = []

  constructor(firstSeq: number, buffer: Uint8Array = EMPTY) {
    this.firstSeq = firstSeq
    this.#buffer = buffer
  }

  get count(): number {
    return this.#marks.length
  }

  get bytes(): number {
    return this.#used
  }

  /** What it occupies, filled or not. */
  get capacity(): number {
    return this.#buffer.length
  }

  /** How many bytes another event could bring; none if the segment has all the events it may have. */
  get room(): number {
    return this.#marks.length === Segment.maxEvents ? 0 : Segment.maxBytes - this.#used
  }

  add(kind: EventKind, data: Uint8Array): void {
    this.#write(data)
    this.#marks.push((this.#used << KINDS_BITS) | KINDS.indexOf(kind))
  }

  /** Lengthens the last event. */
  extendLast(data: Uint8Array): void {
    this.#write(data)
    const kind = this.#marks[this.#marks.length - 1]! & ((1 << KINDS_BITS) - 1)
    this.#marks[this.#marks.length - 1] = (this.#used << KINDS_BITS) | kind
  }

  kindAt(index: number): EventKind {
    return KINDS[this.#marks[index]! & ((1 << KINDS_BITS) - 1)]!
  }

  sizeAt(index: number): number {
    return this.#endAt(index) - this.#endAt(index - 1)
  }

  /** How many bytes of this segment come before the event. */
  offsetOf(index: number): number {
    return this.#endAt(index - 1)
  }

  /** A view: it is good until the segment is recycled, so use it at once or copy it. */
  dataAt(index: number): Uint8Array {
    return this.#buffer.subarray(this.#endAt(index - 1), this.#endAt(index))
  }

  /** The segment as it lies in a file: the bytes, then the marks. */
  encode(): Uint8Array {
    const size = this.#used + this.#marks.length * MARK_BYTES
    let encoded = this.#buffer
    if (size > encoded.length) {
      encoded = new Uint8Array(size)
      encoded.set(this.#buffer.subarray(0, this.#used))
    }
    const marks = new DataView(encoded.buffer, encoded.byteOffset + this.#used)
    for (let i = 0; i < this.#marks.length; i++) marks.setUint32(i * MARK_BYTES, this.#marks[i]!, true)
    return encoded.subarray(0, size)
  }

  /**
   * What `encode` made, in the first `size` bytes of a buffer that becomes the segment's own. Throws if the marks do not
   * fit the bytes: then this is not what was written.
   */
  static decode(firstSeq: number, count: number, buffer: Uint8Array, size: number): Segment {
    const segment = new Segment(firstSeq, buffer)
    segment.#used = size - count * MARK_BYTES
    const marks = new DataView(buffer.buffer, buffer.byteOffset + segment.#used)
    for (let i = 0; i < count; i++) {
      segment.#marks.push(marks.getUint32(i * MARK_BYTES, true))
      if (segment.sizeAt(i) < 0 || segment.kindAt(i) === undefined) throw new Error('a stored segment is damaged')
    }
    if (segment.#endAt(count - 1) !== segment.#used) throw new Error('a stored segment is damaged')
    return segment
  }

  /** Gives the buffer up, for use in another segment. Nothing of this one can be read afterwards. */
  recycle(): Uint8Array {
    const buffer = this.#buffer
    this.#buffer = EMPTY
    this.#used = 0
    this.#marks = []
    return buffer
  }

  #endAt(index: number): number {
    return index < 0 ? 0 : this.#marks[index]! >>> KINDS_BITS
  }

  #write(data: Uint8Array): void {
    const needed = this.#used + data.length
    if (needed > this.#buffer.length) {
      // Most commands say little: start small, and end with a buffer that has room for the marks too.
      const size = needed * 2 > Segment.maxBytes ? Segment.slotBytes : Math.max(512, needed * 2)
      const larger = new Uint8Array(size)
      larger.set(this.#buffer.subarray(0, this.#used))
      this.#buffer = larger
    }
    this.#buffer.set(data, this.#used)
    this.#used = needed
  }
}

const EMPTY = new Uint8Array()
