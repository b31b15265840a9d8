import { limits } from '@waldo/protocol'

/** The length of the JSON, and that of the bytes which follow it. */
const HEADER_BYTES = 8
/** What one frame may hold beside its header: a file in base64, and the call that brings it. */
const MAX_FRAME_BYTES = 2 * limits.messageBytes
const NOTHING = new Uint8Array()

export interface Frame {
  readonly message: unknown
  /** Bytes that would be long as text. */
  readonly payload: Uint8Array
}

/** What travels between a server and a helper. In parts, so that the payload is not copied once more. */
export function encodeFrame(message: object, payload: Uint8Array = NOTHING): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(message))
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt32LE(json.length, 0)
  header.writeUInt32LE(payload.length, 4)
  return payload.length === 0 ? [Buffer.concat([header, json])] : [Buffer.concat([header, json]), payload]
}

/** Cuts a stream of bytes into frames. Throws if it cannot be one. */
export class FrameSplitter {
  #parts: Uint8Array[] = []
  #bytes = 0
  #wanted = HEADER_BYTES;

  *push(bytes: Uint8Array): Generator<Frame> {
    this.#parts.push(bytes)
    this.#bytes += bytes.length
    while (this.#bytes >= this.#wanted) {
      const joined = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
      const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength)
      const [jsonBytes, payloadBytes] = [view.getUint32(0, true), view.getUint32(4, true)]
      const end = HEADER_BYTES + jsonBytes + payloadBytes
      if (end > MAX_FRAME_BYTES) throw new Error(`a frame of ${end} bytes`)
      this.#parts = [joined]
      this.#wanted = end
      if (joined.length < end) return
      const json = joined.subarray(HEADER_BYTES, HEADER_BYTES + jsonBytes)
      // The memory behind it may be used again by whoever reads the stream.
      const payload = payloadBytes === 0 ? NOTHING : joined.slice(HEADER_BYTES + jsonBytes, end)
      yield { message: JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString()), payload }
      const rest = joined.subarray(end)
      this.#parts = rest.length > 0 ? [rest] : []
      this.#bytes = rest.length
      this.#wanted = HEADER_BYTES
    }
  }
}
