import { ExecError } from '@waldo/environment'

/** Taken on behalf of a child that does not read… */
const BUFFER_BYTES = 1024 * 1024
/** …and held beyond that by calls that wait for it to read. */
const WAITING_BYTES = 16 * 1024 * 1024

/** How bytes get to the child. `send` takes all it is given; `onDrained` is called when it has passed everything on. */
export interface StdinChannel {
  send(bytes: Uint8Array): void
  /** Ends the input once everything has been passed on. */
  end(): void
}

interface Waiting {
  readonly bytes: Uint8Array
  readonly settle: (accepted: boolean) => void
}

/** The input of one process: in the order of the calls, bounded, and closed for good when the process has ended. */
export class Stdin {
  readonly #channel: StdinChannel
  readonly #waiting: (Waiting | 'end')[] = []
  #buffered = 0
  #held = 0
  #ended = false
  #closed = false
  #written = 0

  constructor(channel: StdinChannel) {
    this.#channel = channel
  }

  get writtenBytes(): number {
    return this.#written
  }

  /** Whether more can be written; false after `end` as well. */
  get open(): boolean {
    return !this.#ended && !this.#closed
  }

  /** False if the process takes no more input. A promise if it has to read some first; `signal` gives up the wait. */
  write(bytes: Uint8Array, signal: AbortSignal): boolean | Promise<boolean> {
    if (!this.open) return false
    if (this.#waiting.length === 0 && this.#buffered < BUFFER_BYTES) {
      this.#send(bytes)
      return !this.#closed
    }
    if (this.#held + bytes.length > WAITING_BYTES) {
      throw new ExecError(
        'STDIN_FULL',
        `the process does not read its input: ${this.#buffered + this.#held} bytes are waiting; write again later`,
      )
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        bytes,
        settle: (accepted) => {
          signal.removeEventListener('abort', giveUp)
          this.#held -= bytes.length
          resolve(accepted)
        },
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        waiting.settle(false)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#held += bytes.length
      this.#waiting.push(waiting)
    })
  }

  /** Closes the input after everything that was written before. False if it was closed already. */
  end(): boolean {
    if (!this.open) return false
    this.#ended = true
    if (this.#waiting.length > 0) this.#waiting.push('end')
    else this.#channel.end()
    return true
  }

  /** The channel has passed on everything it was sent. */
  drained(): void {
    this.#buffered = 0
    while (this.#waiting.length > 0 && this.#buffered < BUFFER_BYTES) {
      const next = this.#waiting.shift()!
      if (next === 'end') {
        this.#channel.end()
        return
      }
      this.#send(next.bytes)
      next.settle(!this.#closed)
    }
  }

  /** The process has ended, or nobody holds the other end any more. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const next of this.#waiting.splice(0)) if (next !== 'end') next.settle(false)
    this.#channel.end()
  }

  #send(bytes: Uint8Array): void {
    this.#buffered += bytes.length
    this.#written += bytes.length
    // Last, because a channel may call `drained` or find that it must `close` before it returns.
    this.#channel.send(bytes)
  }
}
