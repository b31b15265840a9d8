import type { Link } from './link.ts'

/** A client that has more than this to read gets no more to read. */
const MAX_UNREAD_BYTES = 1024 * 1024

/** Sees to it that a client which asks for much and reads little does not fill our memory with answers. */
export class LargeAnswers {
  readonly #link: Link
  /** Those that wait for the client to read earlier ones, oldest first. */
  readonly #waiting: (() => void)[] = []
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(link: Link) {
    this.#link = link
  }

  /** Whether the client has enough to read already. */
  get full(): boolean {
    return this.#link.queuedBytes > MAX_UNREAD_BYTES
  }

  /** Resolves when the client has taken enough of earlier answers for another to be made; undefined if it has. */
  room(): Promise<void> | undefined {
    if (this.#closed || (!this.full && this.#waiting.length === 0)) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Makes answers that are so large that there must not be two at a time. */
  one<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#last.then(() => this.room()).then(make)
    this.#last = made.catch(() => {}) // Whoever asked for it is told.
    return made
  }

  /** The client may have read something. One at a time: its answer may fill the queue again. */
  writable(): void {
    if (!this.full) this.#waiting.shift()?.()
  }

  /** Nobody waits any longer: what is answered now goes nowhere. */
  close(): void {
    this.#closed = true
    for (const proceed of this.#waiting.splice(0)) proceed()
  }
}
