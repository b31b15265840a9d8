import { abortable } from '@waldo/environment'

/** Lets in one after the other, in the order in which they came. */
export class OneAtATime {
  #last: Promise<void> = Promise.resolve()
  #users = 0

  /** Somebody is in, or waits to be let in. */
  get isBusy(): boolean {
    return this.#users > 0
  }

  /** Rejects if the signal aborts before it is its turn: then the work is never begun. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last
    let leave!: () => void
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // Whoever gives up does not let the next one in before those that came earlier are done.
    this.#last = before.then(() => left)
    this.#users++
    try {
      await abortable(before, signal)
      return await work()
    } finally {
      this.#users--
      leave()
    }
  }

  /** Resolves when nobody is in, and nobody waits. */
  async idle(): Promise<void> {
    while (this.isBusy) await this.#last
  }
}
