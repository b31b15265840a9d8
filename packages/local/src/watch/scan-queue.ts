/** The most directories that are listed at the same time. */
const MAX_RUNNING = 8

export interface Scan {
  /** Say that everything in there was created. */
  readonly report: boolean
  /** Look again at the directories in there that are watched already. */
  readonly verify: boolean
}

/** Directories to be gone through. Each waits at most once, so that no more wait than are watched. */
export class ScanQueue<T> {
  readonly #run: (item: T, scan: Scan) => Promise<void>
  readonly #waiting = new Map<T, Scan>()
  #running = 0
  #unverified = 0
  #verified = Promise.withResolvers<void>()

  constructor(run: (item: T, scan: Scan) => Promise<void>) {
    this.#run = run
    this.#verified.resolve()
  }

  /** Resolves when every scan that verifies has come to its end, with those that it led to. */
  get verified(): Promise<void> {
    return this.#verified.promise
  }

  add(item: T, { report, verify }: Scan): void {
    const waiting = this.#waiting.get(item)
    if (verify && !waiting?.verify && this.#unverified++ === 0) this.#verified = Promise.withResolvers()
    this.#waiting.set(item, { report: report || !!waiting?.report, verify: verify || !!waiting?.verify })
    this.#runNext()
  }

  delete(item: T): void {
    const waiting = this.#waiting.get(item)
    this.#waiting.delete(item)
    if (waiting) this.#ended(waiting)
  }

  #runNext(): void {
    if (this.#running >= MAX_RUNNING) return
    const [next] = this.#waiting
    if (!next) return
    const [item, scan] = next
    this.#waiting.delete(item)
    this.#running++
    void this.#run(item, scan).finally(() => {
      this.#running--
      this.#ended(scan)
      this.#runNext()
    })
  }

  #ended({ verify }: Scan): void {
    if (verify && --this.#unverified === 0) this.#verified.resolve()
  }
}
