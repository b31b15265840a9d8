import { allocate } from './memory.ts'

/** An announcement is believed up to so much, and up to so many times what has come. */
const TRUSTED_BYTES = 64 * 1024
const TRUSTED_FACTOR = 8

/** Bytes that come in parts. What it takes grows with what has come, not with what was announced. */
export class GrowingBuffer {
  #bytes: Uint8Array = NOTHING
  #length = 0

  get length(): number {
    return this.#length
  }

  /** `announced`: how much it is going to be as far as anybody has said, this part included. */
  append(bytes: Uint8Array, start: number, end: number, announced: number): void {
    const length = this.#length + end - start
    if (length > this.#bytes.length) {
      const trusted = Math.max(TRUSTED_BYTES, TRUSTED_FACTOR * length)
      // At least twofold, so that many small parts cost no more than a few large ones.
      const grown = allocate(Math.max(length, this.#bytes.length * 2, Math.min(announced, trusted)))
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
    this.#bytes.set(bytes.subarray(start, end), this.#length)
    this.#length = length
  }

  /** All that has come. The buffer is empty afterwards and does not touch it any more. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = NOTHING
    this.#length = 0
    return bytes
  }
}

const NOTHING = new Uint8Array()
