import type { Link } from './link.ts'

/** Where bulk that is not output waits until the reader takes more. Whoever came first goes first. */
export class Room {
  readonly #link: Link
  readonly #waiting: (() => void)[] = []
  #closed = false

  constructor(link: Link) {
    this.#link = link
  }

  /** Undefined if something may be sent now. */
  wait(): Promise<void> | undefined {
    if (this.#closed || (this.#link.hasRoom && this.#waiting.length === 0)) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** There may be room again. One at a time: what it sends may fill it. */
  writable(): void {
    if (this.#waiting.length === 0 || !this.#link.hasRoom) return
    this.#waiting.shift()!()
    setImmediate(() => this.writable())
  }

  /** Nobody waits any longer: what is sent now goes nowhere. */
  close(): void {
    this.#closed = true
    for (const proceed of this.#waiting.splice(0)) proceed()
  }
}
