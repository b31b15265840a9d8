import type { TextParts } from './wire.ts'

/** What is longer is not worth joining: it would be copied once more, and looked through for what is not ASCII. */
const JOIN_BYTES = 8 * 1024
/** A multiple of three, so that parts are base64 without padding in between. */
const PART_BYTES = 768 * 1024

/**
 * JSON with bytes in it as base64. More than `PART_BYTES` of them become text part by part, as it is sent, and must stay
 * what they are until then.
 */
export function textWithBase64(before: string, bytes: Uint8Array, after: string): string | TextParts {
  if (bytes.length <= JOIN_BYTES) return `${before}${bytes.toBase64()}${after}`
  const [start, end] = [escapeNonAscii(before), escapeNonAscii(after)]
  const length = start.length + Math.ceil(bytes.length / 3) * 4 + end.length
  if (bytes.length <= PART_BYTES) {
    const parts = [start, bytes.toBase64(), end]
    return { length, parts: () => parts.values() }
  }
  return {
    length,
    *parts() {
      yield start
      for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES).toBase64()
      yield end
    },
  }
}

/** In JSON all of it is within strings. */
function escapeNonAscii(json: string): string {
  return json.replace(/[\x80-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
