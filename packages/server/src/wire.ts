/** What a connection needs from its transport to send. Each transport has one; nothing else knows which it is. */
export interface Wire {
  /** Where the other side is, for messages. */
  readonly peer: string
  /** What a malformed message is said to have come from. */
  readonly name: string
  /** Bytes that were sent and that the operating system has not taken yet. */
  readonly queuedBytes: number
  /** Whether `ping` does anything. Without it there is no telling how far the other side has read. */
  readonly canPing: boolean
  send(text: string | TextParts): void
  /** The other side returns the token when it has read everything that was sent before. */
  ping(token: string): void
  /** Makes one write of everything that is sent inside. */
  batch(sends: () => void): void
  pauseReading(): void
  resumeReading(): void
  /** Says goodbye; the wire reports the end when it is done. */
  close(code: number, reason: string): void
  /** Ends it now. */
  terminate(): void
}

/** A long text, of which each part is made when there is somewhere to put it: nobody has to hold all of it. */
export interface TextParts {
  /** Of all parts together, in characters, of which each is a byte. */
  readonly length: number
  /** Nothing may go wrong any more. */
  parts(): Iterator<string, void>
}

export function joinParts(text: TextParts): string {
  const parts = text.parts()
  let joined = ''
  for (let part = parts.next(); !part.done; part = parts.next()) joined += part.value
  return joined
}

/** What a transport tells its connection. */
export interface WireEvents {
  received(text: string): void
  ponged(token: string): void
  /** `queuedBytes` is low again. */
  drained(): void
  closed(): void
}

export const CloseCode = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  policyViolation: 1008,
} as const
