/** Further ahead of its reader than this a process does not get… */
const HIGH_BYTES = 32 * 1024 * 1024
/** …and goes on when it is no further ahead than this. */
const LOW_BYTES = 16 * 1024 * 1024

/**
 * Makes a process wait for its one reader, as a pipe would, instead of going on and having its oldest output dropped.
 * What a reader has asked to read after, it has read.
 */
export class ReaderHold {
  #readBytes = 0
  #waiting: PromiseWithResolvers<void> | undefined
  #released = false

  /** What the producer has to wait for before it says more, if anything. */
  hold(outputBytes: number): Promise<void> | undefined {
    if (this.#released || outputBytes - this.#readBytes <= HIGH_BYTES) return undefined
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  read(readBytes: number, outputBytes: number): void {
    this.#readBytes = Math.max(this.#readBytes, readBytes)
    if (outputBytes - this.#readBytes <= LOW_BYTES) this.#go()
  }

  /** The process has ended: what it still has to say is little, and must not wait for somebody who has left. */
  release(): void {
    this.#released = true
    this.#go()
  }

  #go(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
