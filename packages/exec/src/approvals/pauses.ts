/** Counts what a person is being asked right now. Waits for processes stand still meanwhile. */
export class Pauses {
  #open = 0
  readonly #listeners = new Set<() => void>()

  get isPaused(): boolean {
    return this.#open > 0
  }

  /** Until the promise has settled. */
  async during<T>(asking: () => Promise<T>): Promise<T> {
    this.#open++
    try {
      if (this.#open === 1) this.#tell()
      return await asking()
    } finally {
      if (--this.#open === 0) this.#tell()
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
