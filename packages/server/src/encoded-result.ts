import { textWithBase64 } from './base64-text.ts'
import type { TextParts } from './wire.ts'

/** A result with bytes in it, which travel as base64 text: that is long, and nothing in it has to be escaped. */
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
    return textWithBase64(before, this.bytes, after)
  }
}
