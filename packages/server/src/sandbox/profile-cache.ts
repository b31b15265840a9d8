import type { Policy } from '@waldo/sandbox'
import type { ThisHost } from '@waldo/sandbox/linux'

/** More different profiles are rarely in use at a time. */
const MAX_PROFILES = 32

/** A profile in terms of this machine, and the facts that it was made from. */
export interface BoundProfile<T> {
  readonly policy: Policy
  readonly facts: ThisHost
  /** What was made of it. */
  readonly made: T
}

/** Profiles come again and again, and the machine rarely changes under them: what was made of them serves until it does. */
export class ProfileCache<T> {
  /** Least recently used first. */
  readonly #profiles = new Map<string, BoundProfile<T>>()

  /** `key` says everything that the profile depends on besides the machine. */
  get(key: string, make: () => BoundProfile<T>): BoundProfile<T> {
    const known = this.#profiles.get(key)
    const profile = known?.facts.isCurrent ? known : make()
    this.#profiles.delete(key)
    this.#profiles.set(key, profile)
    const [oldest] = this.#profiles.keys()
    if (this.#profiles.size > MAX_PROFILES) this.#profiles.delete(oldest!)
    return profile
  }
}
