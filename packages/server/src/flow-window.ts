/** How much may be under way on a link that nobody has measured yet, and at least on any. */
const MIN_BYTES = 128 * 1024
const MAX_BYTES = 16 * 1024 * 1024
/** How long a small message may have to wait behind the bulk that is under way. */
const QUEUE_MS = 2
/** A shorter round trip than any clock here can tell. */
const MIN_ROUND_TRIP_MS = 0.05
/** The best of so many measurements counts, so that a pause does not shrink the window. */
const SAMPLES = 16
/** Somebody who does not return a ping for so long may never do it. */
const UNANSWERED_MS = 1000

interface Mark {
  readonly token: string
  readonly sentBytes: number
  readonly ackedBytes: number
  readonly at: number
}

/**
 * Decides how much bulk may be on its way to a reader. What sits in socket buffers delays everything behind it, and
 * the system would buffer megabytes. So we mark the stream with pings, learn from their return how fast the reader
 * takes what we send, and keep no more under way than it takes in one round trip and a moment.
 */
export class FlowWindow {
  readonly #now: () => number
  readonly #marks: Mark[] = []
  readonly #rates: number[] = []
  readonly #roundTrips: number[] = []
  #sent = 0
  #acked = 0
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

  sent(bytes: number): void {
    this.#sent += bytes
  }

  /** Whether so much was sent since the last mark that it is time for another. */
  get wantsMark(): boolean {
    const last = this.#marks[this.#marks.length - 1]
    return this.#sent - (last?.sentBytes ?? this.#acked) >= this.#size / 2
  }

  /** Marks the place that has been reached. Returns the token to ping with. */
  mark(): string {
    const token = `w${++this.#tokens}`
    this.#marks.push({ token, sentBytes: this.#sent, ackedBytes: this.#acked, at: this.#now() })
    return token
  }

  /** A ping has come back. Others than ours are ignored: anybody may send pongs. */
  returned(token: string): void {
    const index = this.#marks.findIndex((mark) => mark.token === token)
    if (index < 0) return
    const mark = this.#marks[index]!
    this.#marks.splice(0, index + 1)
    this.#acked = mark.sentBytes
    const roundTrip = Math.max(MIN_ROUND_TRIP_MS, this.#now() - mark.at)
    remember(this.#roundTrips, roundTrip)
    remember(this.#rates, (mark.sentBytes - mark.ackedBytes) / roundTrip)
    const bytes = Math.max(...this.#rates) * (2 * Math.min(...this.#roundTrips) + QUEUE_MS)
    this.#size = Math.min(MAX_BYTES, Math.max(MIN_BYTES, bytes))
  }

  #forgetUnanswered(): void {
    const [oldest] = this.#marks
    if (!oldest || this.#now() - oldest.at < UNANSWERED_MS) return
    this.#marks.length = 0
    this.#acked = this.#sent
  }
}

function remember(samples: number[], sample: number): void {
  samples.push(sample)
  if (samples.length > SAMPLES) samples.shift()
}
