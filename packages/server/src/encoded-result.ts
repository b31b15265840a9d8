import type { TextParts } from './wire.ts'

/** A multiple of three, so that parts are base64 without padding in between. */
const PART_BYTES = 768 * 1024

/**
 * A result that is JSON already, with base64 text in it: that is long, and nothing in it has to be escaped. What is very
 * long becomes text part by part, as it is sent.
 */
export class EncodedResult {
  readonly #before: string
  readonly #bytes: Uint8Array
  readonly #after: string

  /** The bytes, and the JSON around their text. */
  constructor(before: string, bytes: Uint8Array, after: string) {
    this.#before = before
    this.#bytes = bytes
    this.#after = after
  }

  /** The answer to the call with this id. */
  answer(id: string): string | TextParts {
    const before = `{"id":${id},"result":${this.#before}`
    const after = `${this.#after}}`
    const bytes = this.#bytes
    if (bytes.length <= 2 * PART_BYTES) return `${before}${bytes.toBase64()}${after}`
    return {
      length: before.length + Math.ceil(bytes.length / 3) * 4 + after.length,
      *parts() {
        yield before
        for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES).toBase64()
        yield after
      },
    }
  }
}
