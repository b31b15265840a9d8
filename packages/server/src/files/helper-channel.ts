import { closeSync } from 'node:fs'
import { encodeFrame, type Frame, FrameSplitter } from './helper-frames.ts'

/** Below it a copy costs less than one more call of the system. */
const SMALL_BYTES = 64 * 1024

export interface ChannelEvents {
  /** How large a frame may be that begins now; absent: as large as they get. */
  readonly maxFrameBytes?: () => number
  /** What it throws ends the channel. */
  readonly receive: (frame: Frame) => void
  /** The other side sends nothing more. */
  readonly ended: (cause?: unknown) => void
}

/** One end of a socket on which frames go both ways. Made for a socket that has an other end already. */
export class HelperChannel {
  readonly #events: ChannelEvents
  readonly #splitter: FrameSplitter
  readonly #socket: Bun.Socket
  /** What the system did not take yet. As much as those who send have under way. */
  #waiting: Uint8Array[] = []
  #leaving = false
  #ended = false

  /** The descriptor is its own from now on. */
  constructor(fd: number, events: ChannelEvents) {
    this.#events = events
    this.#splitter = new FrameSplitter(events.maxFrameBytes)
    let opened: Bun.Socket | undefined
    const options: Bun.FdSocketOptions = {
      fd,
      // Answers still come when no more is asked.
      allowHalfOpen: true,
      socket: {
        open: (socket) => {
          opened = socket
        },
        data: (_, bytes) => this.#received(bytes),
        drain: () => this.#flush(),
        end: () => this.#end(),
        close: () => this.#end(),
        error: (_, error) => this.#end(error),
      },
    }
    // The types know what to say, but not to whom.
    const opening = Bun.connect(options as unknown as Bun.UnixSocketOptions<undefined>)
    // It opens before that returns, or not at all.
    opening.catch(() => {})
    if (!opened) {
      closeSync(fd)
      throw new Error('the socket of a helper cannot be used')
    }
    this.#socket = opened
  }

  send(message: object, payload?: Uint8Array): void {
    const parts = encodeFrame(message, payload)
    const isSmall = payload !== undefined && payload.length < SMALL_BYTES
    this.#waiting.push(...(isSmall ? [Buffer.concat(parts)] : parts))
    this.#flush()
  }

  /** Sends what is waiting, and says that nothing more comes. */
  leave(): void {
    this.#leaving = true
    this.#flush()
  }

  close(): void {
    this.#socket.terminate()
  }

  /** Answers that are being made are still sent, but for themselves alone nobody stays. */
  unref(): void {
    this.#socket.unref()
  }

  #received(bytes: Uint8Array): void {
    try {
      for (const frame of this.#splitter.push(bytes)) this.#events.receive(frame)
    } catch (error) {
      this.#end(error)
      this.close()
    }
  }

  #flush(): void {
    for (let part = this.#waiting[0]; part; part = this.#waiting[0]) {
      const taken = this.#socket.write(part)
      // Nobody listens any more: whoever waits for an answer is told so when the channel ends.
      if (taken < 0) this.#waiting = []
      else if (taken < part.length) {
        this.#waiting[0] = part.subarray(taken)
        return
      } else this.#waiting.shift()
    }
    if (this.#leaving) this.#socket.shutdown()
  }

  #end(cause?: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#events.ended(cause)
  }
}
