/** A way to exchange texts with another side. */
export interface Transport {
  /** Bytes that were sent and that the operating system has not taken yet. */
  readonly queuedBytes: number
  send(text: string): void
  /** Takes nothing more in, so that the other side has to wait. Absent where that cannot be done. */
  pauseReading?(): void
  resumeReading?(): void
  /** Says goodbye and lets go, within a bounded time. Resolves when nothing of it is left. */
  close(): Promise<void>
}

export interface TransportEvents {
  received(text: string): void
  /** Once, for whatever reason, also after `close`. Nothing comes after it. */
  closed(reason: string): void
}

/** Opens a transport. Giving up by the signal leaves nothing behind. */
export type Connect = (events: TransportEvents, signal: AbortSignal) => Promise<Transport>
