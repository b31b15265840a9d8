import type { ExecEvent } from './exec-event.ts'

type Listener = (event: ExecEvent) => void

/** Tells whoever listens. A listener that fails is the listener's business: it must not change what a call does. */
export class EventHub {
  readonly #listeners = new Set<Listener>()
  readonly #failed: (error: unknown) => void

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  on(listener: Listener): () => void {
    // A function of its own: somebody who listens twice hears twice, and stops one at a time.
    const own: Listener = (event) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  emit(event: ExecEvent): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event)
      } catch (error) {
        this.#failed(error)
      }
    }
  }
}
