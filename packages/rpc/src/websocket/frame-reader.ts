import { type CloseReason, decodeClosePayload } from './close-payload.ts'
import { FrameError } from './frame-error.ts'
import { GrowingBuffer } from './growing-buffer.ts'
import { free, recycle } from './memory.ts'
import { rotate, unmask } from './unmask.ts'
import { decodeUtf8 } from './utf8.ts'

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** What a reader has found. Bytes are views that are good until the callee returns. */
export interface FrameEvents {
  text(text: string): void
  binary(bytes: Uint8Array): void
  ping(payload: Uint8Array): void
  pong(payload: Uint8Array): void
  /** The other side says goodbye. Nothing comes after it. */
  close(reason: CloseReason): void
}

const FIN = 0x80
const RESERVED = 0x70
const MASKED = 0x80
const MAX_HEADER_BYTES = 14
const MAX_CONTROL_BYTES = 125

/**
 * Takes the bytes that a client sends (RFC 6455) and tells what they say. Whatever breaks the rules is thrown as a
 * `FrameError`, on the header where that suffices; the reader is of no use afterwards.
 */
export class FrameReader {
  readonly #events: FrameEvents
  readonly #maxMessageBytes: number
  #state: 'reading' | 'paused' | 'stopped' = 'reading'
  #running = false
  /** Came while paused, or before in the same chunk. */
  readonly #held: Uint8Array[] = []
  /** The start of a header that the end of a chunk has cut. */
  readonly #header = new Uint8Array(MAX_HEADER_BYTES)
  #headerBytes = 0
  /** The frame whose payload is being read. */
  #inFrame = false
  #final = false
  #opcode = 0
  #mask = 0
  #left = 0
  /** What the fragments of a message are: text or binary; 0 between messages. */
  #messageOpcode = 0
  readonly #message = new GrowingBuffer()
  /** Apart from the message, because control frames may come between its fragments. */
  readonly #control = new GrowingBuffer()

  constructor(events: FrameEvents, maxMessageBytes: number) {
    this.#events = events
    this.#maxMessageBytes = maxMessageBytes
  }

  /** Reads on. The chunk belongs to the reader from now on: it is unmasked in place. */
  push(chunk: Uint8Array): void {
    if (this.#state === 'stopped') return
    this.#held.push(chunk)
    this.#run()
  }

  /** Tells nothing more until `resume`, not even what has been pushed already. */
  pause(): void {
    if (this.#state === 'reading') this.#state = 'paused'
  }

  /** Tells what was held back before it returns, unless it is called from an event. */
  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'reading'
    this.#run()
  }

  /** Tells nothing more, ever, and keeps nothing. */
  stop(): void {
    this.#state = 'stopped'
    this.#held.length = 0
    this.#message.take()
  }

  #run(): void {
    if (this.#running) return
    this.#running = true
    try {
      while (this.#state === 'reading') {
        const chunk = this.#held.shift()
        if (!chunk) return
        this.#read(chunk)
      }
    } catch (error) {
      this.stop()
      throw error
    } finally {
      this.#running = false
    }
  }

  #read(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length && this.#state === 'reading') {
      if (!this.#inFrame) at = this.#readHeader(chunk, at)
      // Not in the next round: a frame without payload is complete although the chunk is at its end.
      if (this.#inFrame) at = this.#readPayload(chunk, at)
    }
    if (at < chunk.length && this.#state === 'paused') this.#held.unshift(chunk.subarray(at))
    else free(chunk)
  }

  #readHeader(chunk: Uint8Array, at: number): number {
    const kept = this.#headerBytes
    if (kept === 0) {
      const size = this.#parseHeader(chunk, at, chunk.length)
      if (size > 0) return at + size
    }
    const added = Math.min(MAX_HEADER_BYTES - kept, chunk.length - at)
    this.#header.set(chunk.subarray(at, at + added), kept)
    const size = kept === 0 ? 0 : this.#parseHeader(this.#header, 0, kept + added)
    this.#headerBytes = size > 0 ? 0 : kept + added
    return size > 0 ? at + size - kept : at + added
  }

  /** Returns the size of the header, or 0 if it does not end before `end`. */
  #parseHeader(bytes: Uint8Array, at: number, end: number): number {
    if (end - at < 2) return 0
    const first = bytes[at]!
    const second = bytes[at + 1]!
    const opcode = first & 0x0f
    const shortLength = second & 0x7f
    if ((first & RESERVED) !== 0) throw new FrameError(1002, 'reserved bits are set, but no extension is in use')
    if ((second & MASKED) === 0) throw new FrameError(1002, 'frames of a client must be masked')
    this.#checkOpcode(opcode, (first & FIN) !== 0, shortLength)
    const size = shortLength < 126 ? 6 : shortLength === 126 ? 8 : 14
    if (end - at < size) return 0
    const length = shortLength < 126 ? shortLength : longLength(bytes, at + 2, size)
    if (opcode < Opcode.close && this.#message.length + length > this.#maxMessageBytes) {
      throw new FrameError(1009, `a message is larger than ${this.#maxMessageBytes} bytes`)
    }
    this.#inFrame = true
    this.#final = (first & FIN) !== 0
    this.#opcode = opcode
    this.#left = length
    const key = at + size - 4
    this.#mask = bytes[key]! | (bytes[key + 1]! << 8) | (bytes[key + 2]! << 16) | (bytes[key + 3]! << 24)
    return size
  }

  #checkOpcode(opcode: number, final: boolean, shortLength: number): void {
    if (opcode >= Opcode.close) {
      if (opcode > Opcode.pong) throw new FrameError(1002, `unknown opcode ${opcode}`)
      if (!final) throw new FrameError(1002, 'control frames cannot be fragmented')
      if (shortLength > MAX_CONTROL_BYTES) throw new FrameError(1002, 'control frames carry at most 125 bytes')
    } else if (opcode > Opcode.binary) throw new FrameError(1002, `unknown opcode ${opcode}`)
    else if (opcode === Opcode.continuation) {
      if (this.#messageOpcode === 0) throw new FrameError(1002, 'a fragment continues no message')
    } else if (this.#messageOpcode !== 0) throw new FrameError(1002, 'a message starts inside another')
  }

  #readPayload(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    unmask(chunk, at, end, this.#mask)
    const whole = end - at === this.#left
    const isControl = this.#opcode >= Opcode.close
    const parts = isControl ? this.#control : this.#message
    if (whole && this.#final && parts.length === 0) {
      // Nearly all: complete in one chunk. There is nothing to put together.
      this.#inFrame = false
      const opcode = this.#opcode === Opcode.continuation ? this.#messageOpcode : this.#opcode
      if (!isControl) this.#messageOpcode = 0
      this.#tell(opcode, chunk, at, end)
      return end
    }
    parts.append(chunk, at, end, parts.length + this.#left)
    this.#mask = rotate(this.#mask, end - at)
    this.#left -= end - at
    if (whole) this.#frameEnded(isControl)
    return end
  }

  #frameEnded(isControl: boolean): void {
    this.#inFrame = false
    if (isControl) {
      const payload = this.#control.take()
      this.#tell(this.#opcode, payload, 0, payload.length)
      return
    }
    if (this.#opcode !== Opcode.continuation) this.#messageOpcode = this.#opcode
    if (!this.#final) return
    const opcode = this.#messageOpcode
    const message = this.#message.take()
    this.#messageOpcode = 0
    this.#tell(opcode, message, 0, message.length)
    recycle(message.buffer)
  }

  /** The last thing that is done with a frame: it may lead to anything, even to `stop`. */
  #tell(opcode: number, bytes: Uint8Array, start: number, end: number): void {
    if (opcode === Opcode.text) {
      const text = decodeUtf8(bytes, start, end)
      if (text === undefined) throw new FrameError(1007, 'a text is not UTF-8')
      this.#events.text(text)
      return
    }
    const payload = bytes.subarray(start, end)
    if (opcode === Opcode.binary) this.#events.binary(payload)
    else if (opcode === Opcode.ping) this.#events.ping(payload)
    else if (opcode === Opcode.pong) this.#events.pong(payload)
    else {
      const reason = decodeClosePayload(payload)
      this.stop()
      this.#events.close(reason)
    }
  }
}

/** Beyond what a number can hold exactly it does not matter any more how long it is. */
function longLength(bytes: Uint8Array, at: number, headerBytes: number): number {
  const short = bytes[at]! * 256 + bytes[at + 1]!
  if (headerBytes === 8) {
    if (short < 126) throw new FrameError(1002, 'a length is not encoded in the shortest way')
    return short
  }
  if (short > 0x7fff) throw new FrameError(1002, 'the highest bit of a length is set')
  let length = short
  for (let i = 2; i < 8; i++) length = length * 256 + bytes[at + i]!
  if (length <= 0xffff) throw new FrameError(1002, 'a length is not encoded in the shortest way')
  return length
}
