import type { ExecEvent } from './exec-event.ts'

/** Tells whoever listens. A listener that fails must not change what others hear, nor what is done. */
export class EventHub<T = ExecEvent> {
  readonly #listeners = new Set<(event: T) => void>()
  readonly #failed: (error: unknown) => void

  /** `failed` hears of listeners that throw. */
  constructor(failed: (error: unknown) => void = throwLater) {
    this.#failed = failed
  }

  on(listener: (event: T) => void): () => void {
    // A function of its own: somebody who listens twice hears twice, and stops one at a time.
    const own = (event: T) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  emit(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event)
      } catch (error) {
        this.#failed(error)
      }
    }
  }
}

/** Somebody has to hear of it: it is as if nobody had called the listener. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
