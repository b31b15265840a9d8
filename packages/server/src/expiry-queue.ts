/** Timers cannot wait longer. */
export const MAX_TTL_MS = 2 ** 31 - 1

/** Things that expire the same time after they were added: one timer, for whichever is due first. */
export class ExpiryQueue<T> {
  readonly #ttlMs: number
  /** In the order in which they were added, which is the order in which they expire. */
  readonly #items = new Map<T, { dueAt: number; expire: () => void }>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Infinity: nothing expires. */
  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs
  }

  get size(): number {
    return this.#items.size
  }

  add(item: T, expire: () => void): void {
    this.#items.delete(item)
    this.#items.set(item, { dueAt: performance.now() + this.#ttlMs, expire })
    this.#schedule()
  }

  remove(item: T): void {
    this.#items.delete(item)
    if (this.#items.size === 0) this.close()
  }

  /** Oldest first. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items.keys()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #schedule(): void {
    const [first] = this.#items.values()
    if (this.#timer || !first || this.#ttlMs === Number.POSITIVE_INFINITY) return
    // A millisecond late rather than early: a timer that fires early would find nothing due and start again at once.
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, first.dueAt - performance.now()) + 1)
    this.#timer.unref()
  }

  #expire(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [item, { dueAt, expire }] of this.#items) {
      if (dueAt > now) break
      this.#items.delete(item)
      expire()
    }
    this.#schedule()
  }
}
