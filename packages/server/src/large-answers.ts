import type { Link } from './link.ts'

/** A client that has more than this to read gets no more to read. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Answers that are being made at a time, in bytes. One may always be. */
const MAX_MAKING_BYTES = 128 * 1024 * 1024

interface Waiter {
  readonly bytes: number
  readonly proceed: () => void
}

/** Sees to it that a client which asks for much and reads little does not fill our memory with answers. */
export class LargeAnswers {
  readonly #link: Link
  /** Those that wait for the client to read earlier ones, oldest first. */
  readonly #waiting: Waiter[] = []
  #making = 0
  #closed = false

  constructor(link: Link) {
    this.#link = link
  }

  /** Whether the client has enough to read already. */
  get full(): boolean {
    return this.#link.queuedBytes > MAX_UNREAD_BYTES
  }

  /** Makes an answer of at most so many bytes, as soon as there is room for it: at once, if there is now. */
  within<T>(bytes: number, make: () => T | Promise<T>): T | Promise<T> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#making += bytes
      return this.#make(bytes, make)
    }
    const turn = new Promise<void>((proceed) => this.#waiting.push({ bytes, proceed }))
    return turn.then(() => this.#make(bytes, make))
  }

  /** The client may have read something. */
  writable(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes, proceed } = this.#waiting.shift()!
      // Now, so that the next one counts it.
      this.#making += bytes
      proceed()
    }
  }

  /** Nobody waits any longer: what is answered now goes nowhere. */
  close(): void {
    this.#closed = true
    this.writable()
  }

  #fits(bytes: number): boolean {
    if (this.#closed) return true
    return !this.full && (this.#making === 0 || this.#making + bytes <= MAX_MAKING_BYTES)
  }

  /** Its bytes have been taken already. */
  #make<T>(bytes: number, make: () => T | Promise<T>): T | Promise<T> {
    let answer: T | Promise<T> | undefined
    try {
      answer = make()
    } finally {
      if (!(answer instanceof Promise)) this.#making -= bytes
    }
    if (!(answer instanceof Promise)) return answer
    // Given back after the answer was sent: until then nobody else counts it.
    return answer.finally(() => setImmediate(() => this.#release(bytes)))
  }

  #release(bytes: number): void {
    this.#making -= bytes
    this.writable()
  }
}
