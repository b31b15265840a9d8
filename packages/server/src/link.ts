import { FlowWindow } from './flow-window.ts'
import type { TextParts, Wire } from './wire.ts'

/** A wire on which we know how much is under way. Everything that is sent to a client goes through its link. */
export class Link {
  readonly #wire: Wire
  readonly #window: FlowWindow

  constructor(wire: Wire, now?: () => number) {
    this.#wire = wire
    this.#window = new FlowWindow(now)
  }

  /** Whether the other side can be asked for a sign of life. */
  get canPing(): boolean {
    return this.#wire.canPing
  }

  /** Bytes that the operating system has not taken yet. */
  get queuedBytes(): number {
    return this.#wire.queuedBytes
  }

  /** Bytes that the other side has not confirmed to have read. */
  get inFlightBytes(): number {
    return this.#wire.canPing ? this.#window.inFlightBytes : this.#wire.queuedBytes
  }

  /** Whether bulk would go straight to the reader instead of into a queue. */
  get hasRoom(): boolean {
    return this.#wire.queuedBytes === 0 && (!this.#wire.canPing || this.#window.open)
  }

  send(text: string | TextParts): void {
    this.#wire.send(text)
    this.#window.sent(text.length)
    this.#pingIfDue()
  }

  /** Makes one write of everything that is sent inside. */
  batch(sends: () => void): void {
    this.#wire.batch(sends)
  }

  ping(): void {
    if (this.#wire.canPing) this.#wire.ping(this.#window.mark())
  }

  ponged(token: string): void {
    this.#window.returned(token)
    // The window may just have become smaller than what is under way: without a ping it would never open again.
    this.#pingIfDue()
  }

  #pingIfDue(): void {
    if (this.#window.wantsMark) this.ping()
  }
}
