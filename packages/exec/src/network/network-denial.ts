import { EventHub } from '../events/event-hub.ts'

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
  readonly #hub: EventHub<NetworkDenial>
  #denial: NetworkDenial | undefined

  /** `failed` hears of listeners that throw: the others must be told all the same. */
  constructor(failed?: (error: unknown) => void) {
    this.#hub = new EventHub(failed)
  }

  get text(): string | undefined {
    return this.#denial?.text
  }

  /** Whether it is news. */
  record(denial: NetworkDenial): boolean {
    if (this.#denial && KINDS.indexOf(denial.kind) <= KINDS.indexOf(this.#denial.kind)) return false
    this.#denial = denial
    this.#hub.emit(denial)
    return true
  }

  /** Also of what has been recorded already: a denial may come before anybody can listen. */
  onDenied(listener: (denial: NetworkDenial) => void): () => void {
    if (this.#denial) listener(this.#denial)
    return this.#hub.on(listener)
  }
}
