import type { Link } from './link.ts'

const PING_EVERY_MS = 15_000
/** After a ping that nothing follows, a connection is dead. */
const ANSWER_WITHIN_MS = 10_000
/** The slowest link we are patient with: what is under way to the client has to arrive before the ping does. */
const SLOWEST_BYTES_PER_MS = 64
/** When somebody else wants the session there is less time. */
const PROBE_MS = 1500

/** Knows whether there is anybody at the other end. TCP alone would take many minutes to notice that there is not. */
export class Liveness {
  readonly #link: Link
  readonly #now: () => number
  #heardAt: number
  #pingedAt: number | undefined
  #onHeard: (() => void)[] = []

  constructor(link: Link, now: () => number = () => performance.now()) {
    this.#link = link
    this.#now = now
    this.#heardAt = now()
  }

  /** Something came from the other end. */
  heard(): void {
    this.#heardAt = this.#now()
    this.#pingedAt = undefined
    if (this.#onHeard.length > 0) for (const resolve of this.#onHeard.splice(0)) resolve()
  }

  /** Pings when it is time to, and says whether the answer is overdue. */
  isDead(): boolean {
    if (!this.#link.canPing) return false
    const now = this.#now()
    if (this.#pingedAt !== undefined) {
      return now - this.#pingedAt > ANSWER_WITHIN_MS + this.#link.inFlightBytes / SLOWEST_BYTES_PER_MS
    }
    if (now - this.#heardAt >= PING_EVERY_MS) this.#ping()
    return false
  }

  /** Asks now. Resolves with the answer, or with false when there is none in time. */
  async probe(): Promise<boolean> {
    if (!this.#link.canPing) return true
    this.#ping()
    const heard = Promise.withResolvers<boolean>()
    this.#onHeard.push(() => heard.resolve(true))
    const timer = setTimeout(() => heard.resolve(false), PROBE_MS)
    const alive = await heard.promise
    clearTimeout(timer)
    return alive
  }

  #ping(): void {
    this.#pingedAt ??= this.#now()
    this.#link.ping()
  }
}
