import { incompleteBytes } from './utf8.ts'

/** How large one event with output may be. */
export const DELTA_MAX_BYTES = 8192

/**
 * Cuts a stream into pieces of at most `maxBytes` that do not end inside a character. What is no UTF-8 goes through as
 * it is. Pieces are views of the chunk where they can be.
 */
export class Utf8Splitter {
  readonly #maxBytes: number
  /** The beginning of a character, three bytes at most. */
  #carried = new Uint8Array(0)

  constructor(maxBytes: number = DELTA_MAX_BYTES) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 4) {
      throw new RangeError(`Cannot cut into pieces of ${maxBytes} bytes: a character can need four`)
    }
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = []
    let rest = chunk
    if (this.#carried.length > 0) {
      const taken = Math.min(chunk.length, this.#maxBytes - this.#carried.length)
      const joined = new Uint8Array(this.#carried.length + taken)
      joined.set(this.#carried)
      joined.set(chunk.subarray(0, taken), this.#carried.length)
      const end = joined.length - incompleteBytes(joined, joined.length)
      // All of it can still be one character only if the chunk was a byte or two: otherwise `end` is in the chunk.
      if (end === 0) {
        this.#carried = joined
        return pieces
      }
      pieces.push(joined.subarray(0, end))
      rest = chunk.subarray(end - this.#carried.length)
    }
    let at = 0
    while (rest.length - at > this.#maxBytes) {
      const end = at + this.#maxBytes
      const cut = end - incompleteBytes(rest, end)
      pieces.push(rest.subarray(at, cut))
      at = cut
    }
    const cut = rest.length - incompleteBytes(rest, rest.length)
    if (cut > at) pieces.push(rest.subarray(at, cut))
    // A copy: whoever reads may use the memory of the chunk again.
    this.#carried = new Uint8Array(rest.subarray(cut))
    return pieces
  }

  /** What is left when nothing follows any more. */
  end(): Uint8Array[] {
    const last = this.#carried
    this.#carried = new Uint8Array(0)
    return last.length === 0 ? [] : [last]
  }
}
