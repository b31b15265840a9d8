/** What a command and everything that it starts may use up. All are positive integers. */
export interface Limits {
  /** CPU time of all its processes together. */
  readonly cpuSeconds?: number | undefined
  /** Memory of all its processes together, with what they keep in memory file systems; nothing goes to swap. */
  readonly memoryBytes?: number | undefined
  /** How many run at one moment. The kernel counts threads, and so do we. */
  readonly processes?: number | undefined
  /** How large one file can become by writing to it. There is no limit to how many there are. */
  readonly fileBytes?: number | undefined
  /** From the start to the end, by the clock on the wall. */
  readonly wallMs?: number | undefined
}

export type LimitKind = keyof Limits

/** The limit that a command ran into. */
export interface LimitHit {
  readonly kind: LimitKind
  /** For people. */
  readonly detail: string
}

/** A limit that cannot be enforced. The message says why, and what would help. There is no process. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
  readonly kind: LimitKind

  constructor(kind: LimitKind, reason: string, options?: ErrorOptions) {
    super(`${kind} cannot be enforced here: ${reason}`, options)
    this.kind = kind
  }
}
