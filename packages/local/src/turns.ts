/** How long one piece of work may keep everybody else waiting. */
const TURN_MS = 2

/** Divides long work into turns, so that others get theirs, and ends it when it is not wanted any more. */
export class Turns {
  readonly #signal: AbortSignal | undefined
  #started = performance.now()

  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted()
    this.#signal = signal
  }

  /** Undefined as long as the turn lasts; else a promise for the next one. */
  over(): Promise<void> | undefined {
    return performance.now() - this.#started < TURN_MS ? undefined : this.#next()
  }

  async #next(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#signal?.throwIfAborted()
    this.#started = performance.now()
  }
}
