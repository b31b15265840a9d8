import { ByteRing } from './byte-ring.ts'

/** What is kept of the output of one process between two answers. */
const OUTPUT_MAX_BYTES = 1024 * 1024

/** The first allocation; most commands say less. */
const SMALLEST = 4096

/**
 * The beginning and the end of a stream. What does not fit between them is counted. Bytes, not characters: both cuts may
 * go through one.
 */
export class HeadTailBuffer {
  readonly capacity: number
  readonly #headBudget: number
  #head = new Uint8Array(0)
  #headLength = 0
  #tail: ByteRing
  #omitted = 0

  constructor(capacity: number = OUTPUT_MAX_BYTES) {
    if (!Number.isSafeInteger(capacity) || capacity < 0) {
      throw new RangeError(`Cannot keep ${capacity} bytes of output: give a whole number that is not negative`)
    }
    this.capacity = capacity
    this.#headBudget = Math.floor(capacity / 2)
    this.#tail = new ByteRing(capacity - this.#headBudget)
  }

  get retainedBytes(): number {
    return this.#headLength + this.#tail.length
  }

  get omittedBytes(): number {
    return this.#omitted
  }

  /** Everything that was ever pushed. */
  get totalBytes(): number {
    return this.retainedBytes + this.#omitted
  }

  /** Copies what it keeps. */
  push(chunk: Uint8Array): void {
    const taken = this.#fillHead(chunk)
    if (taken < chunk.length) this.#omitted += this.#tail.push(taken === 0 ? chunk : chunk.subarray(taken))
  }

  /** As if everything that `other` was given had been pushed here. */
  append(other: HeadTailBuffer): void {
    if (other.capacity !== this.capacity) {
      throw new RangeError(`Cannot append a buffer of ${other.capacity} bytes to one of ${this.capacity}`)
    }
    const otherTail = other.tail()
    this.push(other.head())
    // If it has omitted something, its tail is as long as ours can be, and displaces all that came before the gap.
    this.#omitted += other.#omitted
    if (otherTail.length > 0) this.#omitted += this.#tail.push(otherTail)
  }

  /** Everything so far, with its counts, in a buffer of its own. This one is empty then. */
  drain(): HeadTailBuffer {
    const taken = new HeadTailBuffer(this.capacity)
    taken.#head = this.#head
    taken.#headLength = this.#headLength
    taken.#omitted = this.#omitted
    const fresh = taken.#tail
    taken.#tail = this.#tail
    this.#head = new Uint8Array(0)
    this.#headLength = 0
    this.#omitted = 0
    this.#tail = fresh
    return taken
  }

  /** A view: it changes with the next push while there is room. */
  head(): Uint8Array {
    return this.#head.subarray(0, this.#headLength)
  }

  tail(): Uint8Array {
    const bytes = new Uint8Array(this.#tail.length)
    this.#tail.copyTo(bytes, 0)
    return bytes
  }

  /** What is kept, as if nothing were missing. */
  bytes(): Uint8Array {
    return this.#joined(new Uint8Array(0))
  }

  /** The same, with a line that says how much is missing, where it is. */
  markedBytes(): Uint8Array {
    return this.#joined(this.#omitted === 0 ? new Uint8Array(0) : encoder.encode(`\n${omissionLine(this.#omitted)}\n`))
  }

  #joined(between: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(this.retainedBytes + between.length)
    bytes.set(this.head())
    bytes.set(between, this.#headLength)
    this.#tail.copyTo(bytes, this.#headLength + between.length)
    return bytes
  }

  #fillHead(chunk: Uint8Array): number {
    const taken = Math.min(chunk.length, this.#headBudget - this.#headLength)
    if (taken === 0) return 0
    const length = this.#headLength + taken
    if (length > this.#head.length) {
      const grown = new Uint8Array(Math.min(this.#headBudget, Math.max(length, this.#head.length * 2, SMALLEST)))
      grown.set(this.head())
      this.#head = grown
    }
    this.#head.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), this.#headLength)
    this.#headLength = length
    return taken
  }
}

const encoder = new TextEncoder()

/** Stands between head and tail, on a line of its own. */
export function omissionLine(omittedBytes: number): string {
  return `... ${omittedBytes} bytes omitted ...`
}
