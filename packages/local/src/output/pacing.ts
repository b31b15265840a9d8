/** A reader that is further behind than this makes the producer wait for it… */
const WINDOW_BYTES = 512 * 1024
/** …until it is no further behind than this. */
const RESUME_BYTES = 256 * 1024

/**
 * Keeps a producer and its readers together while the readers are fast, so that output goes from the pipe to the
 * socket without a detour through the disk. A reader that does not catch up within the patience is left behind: it
 * will read from the log, and the producer runs on.
 */
export class Pacing {
  readonly #patienceMs: number
  #leftBehind = false
  #waiting: { promise: Promise<void>; resolve: () => void; timer: ReturnType<typeof setTimeout> } | undefined

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** What the producer has to wait for before it reads more, if anything. */
  hold(lagBytes: number): Promise<void> | undefined {
    if (lagBytes <= WINDOW_BYTES || this.#leftBehind) return undefined
    if (!this.#waiting) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(() => {
        this.#leftBehind = true
        this.release()
      }, this.#patienceMs)
      this.#waiting = { promise, resolve, timer }
    }
    return this.#waiting.promise
  }

  /** A reader has moved on. */
  progress(lagBytes: number): void {
    if (lagBytes > RESUME_BYTES) return
    this.#leftBehind = false
    this.release()
  }

  /** Lets the producer go: there is nobody left to wait for. */
  release(): void {
    if (!this.#waiting) return
    clearTimeout(this.#waiting.timer)
    this.#waiting.resolve()
    this.#waiting = undefined
  }
}
