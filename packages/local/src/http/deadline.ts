/** Longer than timers can count; nobody waits for 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One signal for everything that ends a request early: its caller, its time limit, the end of the client. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal
  readonly #timer: ReturnType<typeof setTimeout> | undefined
  readonly #cancel = () => this.abort(new Error('cancelled', { cause: this.#caller.reason }))

  constructor(caller: AbortSignal, timeoutMs: number | undefined) {
    this.#caller = caller
    caller.addEventListener('abort', this.#cancel, { once: true })
    if (caller.aborted) this.#cancel()
    if (timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(() => this.abort(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs)
    }
  }

  /** Its reason is an error with a message for people. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Nothing is left to end. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#caller.removeEventListener('abort', this.#cancel)
  }
}
