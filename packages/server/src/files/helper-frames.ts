import { limits } from '@waldo/protocol'
import { parseStrictJson } from '@waldo/rpc'

/** The length of the JSON, and that of the bytes which follow it. */
const HEADER_BYTES = 8
/** What one frame may hold beside its header: a file in base64, and the call that brings it. */
const MAX_FRAME_BYTES = 2 * limits.messageBytes
/** Even of names that are a letter long each takes more than eight bytes. */
const JSON_LIMITS = { maxDepth: limits.jsonDepth, maxValues: limits.messageBytes / 8 }
const NOTHING = new Uint8Array()

export interface Frame {
  readonly message: unknown
  /** Bytes that would be long as text. */
  readonly payload: Uint8Array
  /** Of both. */
  readonly bytes: number
}

/** What travels between a server and a helper. In parts, so that the payload is not copied once more. */
export function encodeFrame(message: object, payload: Uint8Array = NOTHING): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(message))
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt32LE(json.length, 0)
  header.writeUInt32LE(payload.length, 4)
  return payload.length === 0 ? [Buffer.concat([header, json])] : [Buffer.concat([header, json]), payload]
}

/**
 * Cuts a stream of bytes into frames. Throws if it cannot be one, or says more than it should: the other side may have
 * been talked into anything.
 */
export class FrameSplitter {
  readonly #maxBytes: () => number
  readonly #header = Buffer.alloc(HEADER_BYTES)
  /** What comes next, the header or what follows it, and how much of that has come. */
  #wanted: Buffer = this.#header
  #received = 0

  /** How large a frame may be, asked when one begins. */
  constructor(maxBytes = () => MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes
  }

  *push(bytes: Uint8Array): Generator<Frame> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#wanted.length - this.#received)
      this.#wanted.set(part, this.#received)
      this.#received += part.length
      at += part.length
      if (this.#received < this.#wanted.length) return
      const complete = this.#wanted
      this.#wanted = complete === this.#header ? this.#begin() : this.#header
      this.#received = 0
      if (complete !== this.#header) yield this.#read(complete)
    }
  }

  #begin(): Buffer {
    const size = this.#header.readUInt32LE(0) + this.#header.readUInt32LE(4)
    if (size === 0 || size > this.#maxBytes()) throw new Error(`a frame of ${size} bytes`)
    return Buffer.allocUnsafe(size)
  }

  #read(content: Buffer): Frame {
    const jsonBytes = this.#header.readUInt32LE(0)
    const { value } = parseStrictJson(content.toString('utf8', 0, jsonBytes), JSON_LIMITS)
    return { message: value, payload: content.subarray(jsonBytes), bytes: content.length }
  }
}
