import { FrameError, Opcode } from '@waldo/rpc'

/** What was found. Bytes are good until the callee returns. */
export interface ServerFrameEvents {
  message(bytes: Buffer): void
  ping(payload: Buffer): void
  /** Anything that shows that somebody is there. */
  pong(): void
  close(code: number, reason: string): void
}

const MAX_CONTROL_BYTES = 125
/** What a large message is collected in grows with what comes, not with what is announced. */
const MIN_ROOM = 64 * 1024

/** Takes the bytes that a server sends (RFC 6455) and tells what they say. What breaks the rules is thrown. */
export class ServerFrames {
  readonly #events: ServerFrameEvents
  readonly #maxMessageBytes: number
  /** The start of a header, or of a frame that is small enough to be waited for. */
  #rest: Buffer = Buffer.alloc(0)
  #message: Buffer = Buffer.alloc(0)
  #messageBytes = 0
  #inMessage = false
  /** Of the data frame whose payload is being read. */
  #left = 0
  #final = false

  constructor(events: ServerFrameEvents, maxMessageBytes: number) {
    this.#events = events
    this.#maxMessageBytes = maxMessageBytes
  }

  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = Buffer.alloc(0)
    while (bytes.length > 0) {
      const taken = this.#left > 0 ? this.#payload(bytes) : this.#frame(bytes)
      if (taken === 0) {
        this.#rest = Buffer.from(bytes)
        return
      }
      bytes = bytes.subarray(taken)
    }
  }

  /** Returns how much of it was used; 0 if there is too little. */
  #frame(bytes: Buffer): number {
    if (bytes.length < 2) return 0
    const first = bytes[0]!
    const second = bytes[1]!
    const opcode = first & 0x0f
    if ((first & 0x70) !== 0) throw new FrameError(1002, 'reserved bits are set, but no extension is in use')
    if ((second & 0x80) !== 0) throw new FrameError(1002, 'a server does not mask its frames')
    const short = second & 0x7f
    const header = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < header) return 0
    const length = header === 2 ? short : header === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (opcode >= Opcode.close) {
      if ((first & 0x80) === 0 || length > MAX_CONTROL_BYTES) {
        throw new FrameError(1002, 'a control frame is fragmented or too long')
      }
      if (bytes.length < header + length) return 0
      this.#control(opcode, bytes.subarray(header, header + length))
      return header + length
    }
    this.#startData(opcode, length)
    this.#final = (first & 0x80) !== 0
    if (length === 0 || (this.#final && this.#messageBytes === 0 && bytes.length >= header + length)) {
      // Nearly all: complete, with nothing to put together.
      this.#left = 0
      if (this.#final) this.#end(this.#messageBytes === 0 ? bytes.subarray(header, header + length) : undefined)
      return header + length
    }
    return header
  }

  #startData(opcode: number, length: number): void {
    if (opcode > Opcode.binary) throw new FrameError(1002, `unknown opcode ${opcode}`)
    if ((opcode === Opcode.continuation) !== this.#inMessage) {
      throw new FrameError(1002, 'the fragments of a message do not belong together')
    }
    if (this.#messageBytes + length > this.#maxMessageBytes) {
      throw new FrameError(1009, `a message is larger than ${this.#maxMessageBytes} bytes`)
    }
    this.#inMessage = true
    this.#left = length
  }

  #payload(bytes: Buffer): number {
    const taken = Math.min(this.#left, bytes.length)
    const needed = this.#messageBytes + taken
    if (needed > this.#message.length) {
      const known = this.#messageBytes + this.#left
      const room = Math.min(Math.max(2 * needed, MIN_ROOM), Math.max(known, MIN_ROOM))
      const larger = Buffer.allocUnsafe(room)
      this.#message.copy(larger, 0, 0, this.#messageBytes)
      this.#message = larger
    }
    bytes.copy(this.#message, this.#messageBytes, 0, taken)
    this.#messageBytes = needed
    this.#left -= taken
    if (this.#left === 0 && this.#final) this.#end(undefined)
    return taken
  }

  #end(whole: Buffer | undefined): void {
    const bytes = whole ?? this.#message.subarray(0, this.#messageBytes)
    this.#inMessage = false
    this.#messageBytes = 0
    this.#events.message(bytes)
    // Kept for the next one, unless it was an exception.
    if (this.#message.length > 8 * 1024 * 1024) this.#message = Buffer.alloc(0)
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === Opcode.ping) this.#events.ping(payload)
    else if (opcode === Opcode.pong) this.#events.pong()
    else if (opcode === Opcode.close) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
      this.#events.close(code, payload.toString('utf8', 2))
    } else throw new FrameError(1002, `unknown opcode ${opcode}`)
  }
}
