import type { LimitCheck } from './limit-checks.ts'
import type { LimitHit } from './limits.ts'

/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1
const AGAIN_MS = 100

/** Looks after the limits that the kernel does not enforce by itself. Keeps nobody from ending. */
export class LimitWatch {
  readonly #checks: readonly LimitCheck[]
  readonly #onHit: (hit: LimitHit) => void
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `onHit` is called again and again until the watch is stopped: a kill that has failed is tried once more. */
  constructor(checks: readonly LimitCheck[], onHit: (hit: LimitHit) => void) {
    this.#checks = checks
    this.#onHit = onHit
    this.#wait()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #wait(): void {
    if (this.#checks.length > 0) this.#lookIn(Math.min(...this.#checks.map((check) => check.nextMs())))
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(ms), LONGEST_MS))
    this.#timer.unref()
  }

  #look(): void {
    for (const check of this.#checks) {
      const hit = check.hit()
      if (!hit) continue
      this.#lookIn(AGAIN_MS)
      // Last, as it may stop us.
      this.#onHit(hit)
      return
    }
    this.#wait()
  }
}
