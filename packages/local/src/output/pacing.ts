/** A reader that is further behind than this makes the producer wait for it… */
const WINDOW_BYTES = 512 * 1024
/** …until it is no further behind than this. */
const RESUME_BYTES = 256 * 1024
/** A reader that takes so much is worth waiting for, however far behind it has fallen. */
const FAST_BYTES_PER_MS = 32 * 1024
/** How long a reader is watched to know how fast it is. */
const SAMPLE_MS = 10

/**
 * Keeps a producer and its readers together while the readers are fast, so that output goes from the pipe to the
 * socket without a detour through the disk. A reader that is not fast for as long as the patience lasts is left behind:
 * it reads from the log, and the producer runs on. Once it is fast again, it is waited for again.
 */
export class Pacing {
  readonly #patienceMs: number
  readonly #now: () => number
  #leftBehind = false
  #sampledAt = 0
  #sampledBytes = 0
  #waiting: { promise: Promise<void>; resolve: () => void; timer: ReturnType<typeof setTimeout> } | undefined

  constructor(patienceMs: number, now: () => number = () => performance.now()) {
    this.#patienceMs = patienceMs
    this.#now = now
  }

  /** What the producer has to wait for before it reads more, if anything. */
  hold(lagBytes: number): Promise<void> | undefined {
    if (lagBytes <= WINDOW_BYTES || this.#leftBehind) return undefined
    if (!this.#waiting) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting = { promise, resolve, timer: this.#lookLater() }
    }
    return this.#waiting.promise
  }

  /** A reader has moved on: this far it is behind, and so much has it read in all. */
  progress(lagBytes: number, readBytes: number): void {
    if (lagBytes <= RESUME_BYTES) {
      this.#leftBehind = false
      this.release()
    } else if (this.#isFast(readBytes)) {
      this.#leftBehind = false
      if (!this.#waiting) return
      clearTimeout(this.#waiting.timer)
      this.#waiting.timer = this.#lookLater()
    }
  }

  /** Lets the producer go: there is nobody left to wait for. */
  release(): void {
    if (!this.#waiting) return
    clearTimeout(this.#waiting.timer)
    this.#waiting.resolve()
    this.#waiting = undefined
  }

  #lookLater(): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.#leftBehind = true
      this.release()
    }, this.#patienceMs)
  }

  #isFast(readBytes: number): boolean {
    const now = this.#now()
    const elapsed = now - this.#sampledAt
    if (elapsed < SAMPLE_MS) return false
    const bytes = readBytes - this.#sampledBytes
    this.#sampledAt = now
    this.#sampledBytes = readBytes
    return bytes >= elapsed * FAST_BYTES_PER_MS
  }
}
