import { limits } from '@waldo/protocol'
import { Opcode } from '@waldo/rpc'
import type { TextParts } from '../wire.ts'

/** What is larger goes in several frames. Half of what clients take, so that nothing depends on how they count. */
const FRAME_BYTES = limits.frameBytes / 2
/** A character of a string takes so many bytes at most, a surrogate pair less than two of them. */
const MAX_BYTES_PER_UNIT = 3
const MAX_HEADER_BYTES = 10
const MAX_CONTROL_FRAME_BYTES = 2 + 125
const FIN = 0x80
/** Room in the queue that its head has left is given back in steps of this. */
const COMPACT_AFTER = 1024

const encoder = new TextEncoder()

/**
 * What is to be sent on one WebSocket, in order: texts, which become bytes not before there is somewhere to put them,
 * and control frames.
 */
export class FrameWriter {
  /** Uint8Arrays are whole frames. */
  #queue: (string | TextParts | Uint8Array)[] = []
  #head = 0
  #queuedBytes = 0
  #pong: Uint8Array | undefined
  /** The message that has been begun: its text, or the part of it that is being encoded, and how far that is. */
  #text = ''
  #position = 0
  /** What comes after that part. */
  #parts: Iterator<string, void> | undefined
  /** Characters, in the current frame and behind it. */
  #frameLeft = 0
  #messageLeft = 0
  /** How long frames of the message may be, whether one has been begun, and whether each character is a byte. */
  #frameUnits = 0
  #begun = false
  #isAscii = false

  /** How much is still to be encoded. Texts count by their characters. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  text(text: string | TextParts): void {
    this.#queue.push(text)
    this.#queuedBytes += text.length
  }

  /** A ping or the close frame: in its place after what was given before. The payload is 125 bytes at most. */
  control(opcode: number, payload: Uint8Array): void {
    const frame = controlFrame(opcode, payload)
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
  }

  /** Goes before everything that is not begun. There is only ever one: an answer to the latest ping answers them all. */
  pong(payload: Uint8Array): void {
    this.#queuedBytes -= this.#pong?.length ?? 0
    this.#pong = controlFrame(Opcode.pong, payload)
    this.#queuedBytes += this.#pong.length
  }

  /** Encodes what comes next, as much as there is room for. Returns how many bytes it is; 0 when nothing is left. */
  fill(into: Buffer): number {
    let at = 0
    for (;;) {
      if (this.#frameLeft > 0) {
        at = this.#encode(into, at)
        // Nothing may come inside a frame.
        if (this.#frameLeft > 0) return at
        if (this.#messageLeft === 0) this.#begin('', 0, false)
      }
      if (into.length - at < MAX_CONTROL_FRAME_BYTES) return at
      if (this.#pong) {
        at = this.#put(this.#pong, into, at)
        this.#pong = undefined
      } else if (this.#messageLeft > 0) at = this.#beginFrame(into, at)
      else if (this.#head < this.#queue.length) at = this.#takeNext(into, at)
      else return at
    }
  }

  #takeNext(into: Buffer, at: number): number {
    const next = this.#queue[this.#head]!
    this.#advance()
    if (next instanceof Uint8Array) return this.#put(next, into, at)
    if (typeof next !== 'string') {
      this.#begin('', next.length, true)
      this.#parts = next.parts()
      return at
    }
    const bytes = Buffer.byteLength(next)
    if (bytes > into.length - at - MAX_HEADER_BYTES) {
      this.#begin(next, next.length, bytes === next.length)
      if (!this.#isAscii && bytes > FRAME_BYTES) this.#frameUnits = Math.floor(FRAME_BYTES / MAX_BYTES_PER_UNIT)
      return at
    }
    // Nearly all: it fits.
    const start = writeHeader(into, at, FIN | Opcode.text, bytes)
    into.write(next, start)
    this.#queuedBytes -= next.length
    return start + bytes
  }

  #begin(text: string, units: number, isAscii: boolean): void {
    this.#text = text
    this.#position = 0
    this.#parts = undefined
    this.#messageLeft = units
    this.#frameUnits = FRAME_BYTES
    this.#begun = false
    this.#isAscii = isAscii
  }

  #beginFrame(into: Buffer, at: number): number {
    let units = Math.min(this.#messageLeft, this.#frameUnits)
    let bytes = units
    if (!this.#isAscii) {
      const start = this.#position
      // Each half of a pair would become a character of its own.
      if (units < this.#messageLeft && isHighSurrogate(this.#text.charCodeAt(start + units - 1))) units--
      bytes = Buffer.byteLength(this.#text.slice(start, start + units))
    }
    this.#frameLeft = units
    this.#messageLeft -= units
    const first = (this.#messageLeft === 0 ? FIN : 0) | (this.#begun ? Opcode.continuation : Opcode.text)
    this.#begun = true
    return writeHeader(into, at, first, bytes)
  }

  /** A slice of a string shares its memory: however often this is called for a long one, it is encoded once. */
  #encode(into: Buffer, start: number): number {
    let at = start
    while (this.#frameLeft > 0) {
      if (this.#position === this.#text.length) {
        this.#text = this.#parts!.next().value!
        this.#position = 0
      }
      const rest = this.#text.slice(this.#position, this.#position + this.#frameLeft)
      const { read, written } = encoder.encodeInto(rest, into.subarray(at))
      this.#position += read
      this.#frameLeft -= read
      this.#queuedBytes -= read
      at += written
      if (read < rest.length) break
    }
    return at
  }

  #put(frame: Uint8Array, into: Buffer, at: number): number {
    into.set(frame, at)
    this.#queuedBytes -= frame.length
    return at + frame.length
  }

  #advance(): void {
    this.#head++
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0
      this.#head = 0
    } else if (this.#head >= COMPACT_AFTER && this.#head * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
  }
}

function controlFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(2 + payload.length)
  frame[0] = FIN | opcode
  frame[1] = payload.length
  frame.set(payload, 2)
  return frame
}

function writeHeader(into: Buffer, at: number, first: number, length: number): number {
  into[at] = first
  if (length < 126) {
    into[at + 1] = length
    return at + 2
  }
  if (length <= 0xffff) {
    into[at + 1] = 126
    into[at + 2] = length >> 8
    into[at + 3] = length & 0xff
    return at + 4
  }
  into[at + 1] = 127
  // Never more than a frame, which four bytes can say.
  into.writeUInt32BE(0, at + 2)
  into.writeUInt32BE(length, at + 6)
  return at + 10
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}
