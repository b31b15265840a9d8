import type { TextParts } from './wire.ts'

/** A multiple of three, so that parts are base64 without padding in between. */
const PART_BYTES = 768 * 1024

/**
 * A result with bytes in it, which travel as base64 text: that is long, and nothing in it has to be escaped. What is
 * very long becomes text part by part, as it is sent.
 */
export class EncodedResult {
  readonly member: string
  readonly bytes: Uint8Array
  readonly rest: object

  /** The member that holds the bytes, and all others. */
  constructor(member: string, bytes: Uint8Array, rest: object = {}) {
    this.member = member
    this.bytes = bytes
    this.rest = rest
  }

  /** The answer to the call with this id. */
  answer(id: string): string | TextParts {
    const rest = JSON.stringify(this.rest)
    const before = `{"id":${id},"result":{"${this.member}":"`
    const after = `"${rest === '{}' ? '' : ','}${rest.slice(1)}}`
    const { bytes } = this
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
