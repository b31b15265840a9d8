/** How much may be under way on a link that nobody has measured yet, and at least on any. */
const MIN_BYTES = 128 * 1024
const MAX_BYTES = 16 * 1024 * 1024
/** How long a small message may have to wait behind the bulk that is under way. */
const QUEUE_MS = 2
/** Less than any clock here can tell. */
const MIN_MS = 0.05
/** The best of so many measurements counts, so that a pause does not shrink the window. */
const RATE_SAMPLES = 16
/** With no more than this under way, or after a pause, a ping meets no queue: it measures the distance alone. */
const QUIET_BYTES = 16 * 1024
const QUIET_MS = 200
/** Somebody who has never returned a ping, and does not for so long, may never do it. */
const UNANSWERED_MS = 1000

interface Mark {
  readonly token: string
  readonly sentBytes: number
  readonly at: number
  readonly quiet: boolean
  /** How much was known to be read then, and since when. */
  readonly ackedBytes: number
  readonly ackedAt: number
}

/**
 * Decides how much bulk may be on its way to a reader. What sits in socket buffers delays everything behind it, and
 * the system would buffer megabytes. So we mark the stream with pings, learn from their return how fast the reader
 * takes what we send and how far away it is, and keep no more under way than it takes in that time and a moment.
 */
export class FlowWindow {
  readonly #now: () => number
  readonly #marks: Mark[] = []
  readonly #rates: number[] = []
  #distanceMs: number | undefined
  #sent = 0
  #sentAt = 0
  #acked = 0
  #ackedAt = 0
  #size = MIN_BYTES
  #tokens = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get bytes(): number {
    return this.#size
  }

  get inFlightBytes(): number {
    return this.#sent - this.#acked
  }

  get open(): boolean {
    this.#forgetUnanswered()
    return this.inFlightBytes < this.#size
  }

  /** Whether so much was sent since the last mark that it is time for another. */
  get wantsMark(): boolean {
    const last = this.#marks[this.#marks.length - 1]
    return this.#sent - (last?.sentBytes ?? this.#acked) >= this.#size / 2
  }

  sent(bytes: number): void {
    this.#sentAt = this.#now()
    // After a pause the clock starts anew: that nothing was sent says nothing about the reader.
    if (this.#sent === this.#acked) this.#ackedAt = this.#sentAt
    this.#sent += bytes
  }

  /** Marks the place that has been reached. Returns the token to ping with. */
  mark(): string {
    const token = `w${++this.#tokens}`
    const at = this.#now()
    this.#marks.push({
      token,
      sentBytes: this.#sent,
      at,
      quiet: this.inFlightBytes <= QUIET_BYTES || at - this.#sentAt > QUIET_MS,
      ackedBytes: this.#acked,
      ackedAt: this.#ackedAt,
    })
    return token
  }

  /** A ping has come back. Others than ours are ignored: anybody may send pongs. */
  returned(token: string): void {
    const index = this.#marks.findIndex((mark) => mark.token === token)
    if (index < 0) return
    const mark = this.#marks[index]!
    this.#marks.splice(0, index + 1)
    const now = this.#now()
    this.#acked = mark.sentBytes
    this.#ackedAt = now
    this.#measureDistance(Math.max(MIN_MS, now - mark.at), mark.quiet)
    this.#measureRate((mark.sentBytes - mark.ackedBytes) / Math.max(MIN_MS, now - mark.ackedAt))
    const bytes = Math.max(...this.#rates) * (2 * this.#distanceMs! + QUEUE_MS)
    this.#size = Math.min(MAX_BYTES, Math.max(MIN_BYTES, bytes))
  }

  /** A round trip behind a queue is longer than the way: taking it for the way would make the queue longer still. */
  #measureDistance(roundTripMs: number, quiet: boolean): void {
    const known = this.#distanceMs
    if (known === undefined || roundTripMs < known) this.#distanceMs = roundTripMs
    else if (quiet) this.#distanceMs = (known + roundTripMs) / 2
  }

  #measureRate(bytesPerMs: number): void {
    this.#rates.push(bytesPerMs)
    if (this.#rates.length > RATE_SAMPLES) this.#rates.shift()
  }

  #forgetUnanswered(): void {
    const [oldest] = this.#marks
    const answers = this.#distanceMs !== undefined
    if (!oldest || answers || this.#now() - oldest.at < UNANSWERED_MS) return
    this.#marks.length = 0
    this.#acked = this.#sent
    this.#ackedAt = this.#now()
  }
}
