/** Why an execution may not go on, in the order in which they replace each other. */
const KINDS = ['blocked', 'reviewed', 'stopped'] as const

export interface NetworkDenial {
  /**
   * `blocked`: by a rule, or because nobody could be asked. `reviewed`: somebody was asked and said no. `stopped`: they
   * stopped the turn as well.
   */
  readonly kind: (typeof KINDS)[number]
  readonly text: string
}

/** Remembers why an execution was denied something. What somebody said replaces what a rule said, never the reverse. */
export class DenialRecord {
  readonly #listeners = new Set<(denial: NetworkDenial) => void>()
  readonly #failed: (error: unknown) => void
  #denial: NetworkDenial | undefined

  /** `failed` hears of listeners that throw: the others must be told all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  get text(): string | undefined {
    return this.#denial?.text
  }

  /** Whether it is news. */
  record(denial: NetworkDenial): boolean {
    if (this.#denial && KINDS.indexOf(denial.kind) <= KINDS.indexOf(this.#denial.kind)) return false
    this.#denial = denial
    for (const listener of [...this.#listeners]) this.#tell(listener, denial)
    return true
  }

  /** Also of what has been recorded already: a denial may come before anybody can listen. */
  onDenied(listener: (denial: NetworkDenial) => void): () => void {
    const own = (denial: NetworkDenial) => listener(denial)
    this.#listeners.add(own)
    if (this.#denial) this.#tell(own, this.#denial)
    return () => this.#listeners.delete(own)
  }

  #tell(listener: (denial: NetworkDenial) => void, denial: NetworkDenial): void {
    try {
      listener(denial)
    } catch (error) {
      this.#failed(error)
    }
  }
}
