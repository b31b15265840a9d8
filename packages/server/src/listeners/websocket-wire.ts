import { limits } from '@waldo/protocol'
import { type CloseReason, decodeUtf8, encodeClosePayload, FrameError, FrameReader, Opcode } from '@waldo/rpc'
import type { TextParts, Wire, WireEvents } from '../wire.ts'
import { FrameWriter } from './frame-writer.ts'
import { reportDefect } from './report-defect.ts'

/** Given to the system in one call. */
const WRITE_BYTES = 512 * 1024
/** What is sent in one turn of the event loop is collected up to here. */
const COLLECT_BYTES = 256 * 1024
/** Taken by a system that takes everything, before others on this server get a turn. */
const TURN_BYTES = 4 * 1024 * 1024
/** What is queued is bounded where it comes from. Should that fail, losing the connection beats losing a message. */
const MAX_QUEUED_BYTES = 4 * limits.messageBytes
/** For the other side to say goodbye, and to close its end. */
const GOODBYE_MS = 2000

/** Where frames are put together; a turn of one socket at a time, so one is enough. */
let scratch: Buffer | undefined

/** A WebSocket, from after the upgrade to the end. */
export class WebSocketWire implements Wire {
  readonly canPing = true
  readonly peer: string
  readonly name: string
  readonly #socket: Bun.Socket<unknown>
  readonly #events: WireEvents
  readonly #reader: FrameReader
  #writer = new FrameWriter()
  #batching = false
  #flushIsDue = false
  /** The system has not taken everything; `drain` goes on. */
  #blocked = false
  /** Encoded, but not taken. Goes before anything else. */
  #unsent: Uint8Array | undefined
  #paused = false
  /** The close frame is queued or sent: nothing comes after it. */
  #leaving = false
  /** Nothing more is expected from the other side. */
  #heardAll = false
  /** Nothing more can be written. */
  #finished = false
  /** The connection knows that it has ended: it is told nothing more. */
  #reported = false
  #goodbye: ReturnType<typeof setTimeout> | undefined

  constructor(socket: Bun.Socket<unknown>, peer: string, connect: (wire: Wire) => WireEvents) {
    this.#socket = socket
    this.peer = peer
    this.name = `websocket ${peer}`
    this.#reader = new FrameReader(
      {
        text: (text) => this.#received(text),
        // Clients may send JSON in binary frames. What is not UTF-8 is not JSON, and the parser will say so.
        binary: (bytes) => this.#received(decodeUtf8(bytes, 0, bytes.length) ?? '\ufffd'),
        ping: (payload) => this.#pinged(payload),
        pong: (payload) => this.#events.ponged(Buffer.from(payload).toString('latin1')),
        close: ({ code }) => this.#finish({ code, reason: '' }),
      },
      limits.messageBytes,
    )
    this.#events = connect(this)
  }

  /** What the end of this turn will send does not count: the system has not been asked yet, and it is not much. */
  get queuedBytes(): number {
    return this.#blocked ? (this.#unsent?.length ?? 0) + this.#writer.queuedBytes : 0
  }

  send(text: string | TextParts): void {
    if (this.#leaving) return
    if (this.#writer.queuedBytes > MAX_QUEUED_BYTES) {
      // Not now: whoever sends does not expect to be told of the end before this returns.
      queueMicrotask(() => this.terminate())
      return
    }
    this.#writer.text(text)
    if (this.#writer.queuedBytes >= COLLECT_BYTES) this.#flush()
    else this.#flushSoon()
  }

  ping(token: string): void {
    if (this.#leaving) return
    this.#writer.control(Opcode.ping, Buffer.from(token, 'latin1'))
    this.#flushSoon()
  }

  batch(sends: () => void): void {
    this.#batching = true
    try {
      sends()
    } finally {
      this.#batching = false
      this.#flush()
    }
  }

  pauseReading(): void {
    if (this.#leaving) return
    this.#paused = true
    this.#reader.pause()
    this.#socket.pause()
  }

  resumeReading(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#socket.resume()
    // Not now: whoever resumes may have something to do first that came before what was held back.
    queueMicrotask(() => {
      if (!this.#paused) this.#guard(() => this.#reader.resume())
    })
  }

  close(code: number, reason: string): void {
    if (this.#leaving) return
    this.#leave({ code, reason })
    // The other side's goodbye may be behind something that was held back.
    this.resumeReading()
  }

  terminate(): void {
    this.#socket.terminate()
    this.ended()
  }

  /** The socket has received something. */
  receive(chunk: Uint8Array): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** The socket may take more. It says so at times when it has taken everything, too. */
  drain(): void {
    if (!this.#blocked || this.#finished) return
    if (this.#unsent) {
      const taken = this.#socket.write(this.#unsent)
      if (taken < this.#unsent.length) {
        if (taken > 0) this.#unsent = this.#unsent.subarray(taken)
        return
      }
      this.#unsent = undefined
    }
    this.#blocked = false
    this.#flush()
    if (!this.#blocked && !this.#reported) this.#guard(() => this.#events.drained())
  }

  /** The socket is gone. */
  ended(): void {
    clearTimeout(this.#goodbye)
    this.#leaving = true
    this.#heardAll = true
    this.#finished = true
    this.#reader.stop()
    // What nobody gets any more must not stay for as long as somebody knows this wire.
    this.#unsent = undefined
    this.#writer = new FrameWriter()
    this.#report()
  }

  #received(text: string): void {
    if (!this.#leaving) this.#events.received(text)
  }

  #pinged(payload: Uint8Array): void {
    if (this.#leaving) return
    this.#writer.pong(payload)
    this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#flushIsDue || this.#batching || this.#blocked) return
    this.#flushIsDue = true
    queueMicrotask(() => {
      this.#flushIsDue = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#blocked || this.#finished) return
    scratch ??= Buffer.allocUnsafe(WRITE_BYTES)
    for (let written = 0; ; ) {
      const bytes = this.#writer.fill(scratch)
      if (bytes === 0) break
      const taken = this.#socket.write(scratch, 0, bytes)
      if (taken < bytes) {
        this.#blocked = true
        this.#unsent = new Uint8Array(scratch.subarray(Math.max(0, taken), bytes))
        return
      }
      written += bytes
      if (written >= TURN_BYTES) {
        this.#blocked = true
        setImmediate(() => this.drain())
        return
      }
    }
    if (this.#leaving) this.#saidGoodbye()
  }

  /** Queues the close frame. */
  #leave(reason: CloseReason): void {
    this.#leaving = true
    this.#writer.control(Opcode.close, encodeClosePayload(reason))
    this.#flushSoon()
  }

  #saidGoodbye(): void {
    this.#limitGoodbye()
    if (!this.#heardAll) return
    this.#finished = true
    // Not `end`: it closes both directions, and what the other side is still sending would make the system throw away
    // what it has not read yet, the close frame included. It is read until the other side closes, and ignored.
    this.#socket.shutdown()
  }

  #limitGoodbye(): void {
    this.#goodbye ??= setTimeout(() => {
      this.#socket.end()
      this.ended()
    }, GOODBYE_MS).unref()
  }

  /** Nothing that comes from the other side matters any more. It gets what is queued and a close frame, if it is quick. */
  #finish(reason: CloseReason): void {
    this.#heardAll = true
    this.#reader.stop()
    if (!this.#leaving) this.#leave(reason)
    this.#limitGoodbye()
    this.#flush()
    this.#report()
  }

  #report(): void {
    if (this.#reported) return
    this.#reported = true
    this.#guard(() => this.#events.closed())
  }

  #guard(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    if (error instanceof FrameError) this.#finish({ code: error.closeCode, reason: error.message })
    else {
      reportDefect(error)
      this.terminate()
    }
  }
}
