/** Longer than timers can count; nobody waits for 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Everything that ends a request early: its caller, its time limit, the end of the client. It is told to whoever is at
 * work on the request, of whom there is one at a time. Not an `AbortSignal`, which costs more than the rest of a small
 * request.
 */
export class Deadline {
  readonly #timer: ReturnType<typeof setTimeout> | undefined
  #reason: Error | undefined
  #worker: ((reason: Error) => void) | undefined

  constructor(timeoutMs?: number) {
    if (timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(() => this.abort(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs)
    }
  }

  /** An error with a message for people. Undefined as long as nobody has ended the request. */
  get reason(): Error | undefined {
    return this.#reason
  }

  throwIfAborted(): void {
    if (this.#reason) throw this.#reason
  }

  /** Ends the request, unless it has ended. */
  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    this.#worker?.(reason)
  }

  /** Who is told from now on, instead of whoever was told before: at once, if the request has been ended already. */
  tell(worker: (reason: Error) => void): void {
    if (this.#reason) worker(this.#reason)
    else this.#worker = worker
  }

  /** Nobody is at work for now. */
  tellNobody(): void {
    this.#worker = undefined
  }

  /** Nothing is left to end. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#worker = undefined
  }
}
