/** The first allocation; most commands say less. */
const SMALLEST = 4096

/** The last `capacity` bytes of a stream, in memory that grows with what there is to keep. */
export class ByteRing {
  readonly capacity: number
  #bytes = new Uint8Array(0)
  #start = 0
  #length = 0

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get length(): number {
    return this.#length
  }

  /** Returns how many bytes had to go for it, of those kept so far or of `chunk` itself. */
  push(chunk: Uint8Array): number {
    const excess = Math.max(0, this.#length + chunk.length - this.capacity)
    if (chunk.length >= this.capacity) {
      this.#reserve(this.capacity)
      this.#bytes.set(chunk.subarray(chunk.length - this.capacity))
      this.#start = 0
      this.#length = this.capacity
      return excess
    }
    this.#reserve(this.#length + chunk.length - excess)
    const size = this.#bytes.length
    const at = (this.#start + this.#length) % size
    const first = Math.min(chunk.length, size - at)
    this.#bytes.set(first === chunk.length ? chunk : chunk.subarray(0, first), at)
    if (first < chunk.length) this.#bytes.set(chunk.subarray(first), 0)
    this.#start = (this.#start + excess) % size
    this.#length += chunk.length - excess
    return excess
  }

  copyTo(target: Uint8Array, at: number): void {
    const first = Math.min(this.#length, this.#bytes.length - this.#start)
    target.set(this.#bytes.subarray(this.#start, this.#start + first), at)
    if (first < this.#length) target.set(this.#bytes.subarray(0, this.#length - first), at + first)
  }

  #reserve(length: number): void {
    const { length: size } = this.#bytes
    if (length <= size) return
    // Nothing has wrapped around yet: bytes go only once the ring has its full size.
    const grown = new Uint8Array(Math.min(this.capacity, Math.max(length, size * 2, SMALLEST)))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}
