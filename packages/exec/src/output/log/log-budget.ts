/** Somebody who keeps bytes that others may need the room of. */
export interface LogHolder {
  readonly heldBytes: number
  /** Lets go of its oldest part. Returns how many bytes that makes free; 0 if it holds nothing. */
  dropOldest(): number
}

/** What the logs of a conversation may hold together. */
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
/** What a log asks for at once, at most. */
export const BLOCK_BYTES = 64 * 1024

/**
 * How much all logs may hold together. Whoever needs room gets it from the one that holds most: a process that says a
 * lot does not cost the others what they have said.
 */
export class LogBudget {
  readonly #maxBytes: number
  readonly #holders = new Set<LogHolder>()
  #held = 0

  constructor(maxBytes: number = DEFAULT_MAX_BYTES) {
    if (!(maxBytes >= BLOCK_BYTES)) {
      throw new RangeError(`Cannot keep logs in ${maxBytes} bytes: give at least ${BLOCK_BYTES}`)
    }
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#held
  }

  /** Makes room for so many bytes, not more than a block. They are the holder's then. */
  take(holder: LogHolder, bytes: number): void {
    while (this.#held + bytes > this.#maxBytes) {
      let largest = holder
      for (const other of this.#holders) if (other.heldBytes > largest.heldBytes) largest = other
      const freed = largest.dropOldest()
      if (freed === 0) throw new Error(`Logs hold ${this.#held} bytes that none of them has`)
      this.#held -= freed
    }
    this.#holders.add(holder)
    this.#held += bytes
  }

  /** Something that the holder has let go of by itself. */
  giveBack(holder: LogHolder, bytes: number): void {
    this.#held -= bytes
    if (holder.heldBytes === 0) this.#holders.delete(holder)
  }
}
