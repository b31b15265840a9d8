export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'
}

const LF = 0x0a

/** Cuts a stream of bytes into lines of UTF-8 text. A line that exceeds the limit ends the stream with an error. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #parts: Uint8Array[] = []
  #pendingBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that `bytes` completes, without their terminators and without blank ones. */
  *push(bytes: Uint8Array): Generator<string> {
    let start = 0
    for (;;) {
      const end = bytes.indexOf(LF, start)
      if (end < 0) break
      const line = this.#take(bytes.subarray(start, end))
      start = end + 1
      if (line !== undefined) yield line
    }
    if (start === bytes.length) return
    this.#keep(bytes.slice(start))
  }

  /** A last line that had no terminator. */
  end(): string | undefined {
    return this.#take(new Uint8Array())
  }

  #keep(part: Uint8Array): void {
    this.#parts.push(part)
    this.#pendingBytes += part.length
    this.#check(this.#pendingBytes)
  }

  #take(last: Uint8Array): string | undefined {
    const size = this.#pendingBytes + last.length
    this.#check(size)
    let line = last
    if (this.#parts.length > 0) {
      line = new Uint8Array(size)
      let at = 0
      for (const part of [...this.#parts, last]) {
        line.set(part, at)
        at += part.length
      }
      this.#parts = []
      this.#pendingBytes = 0
    }
    const text = this.#decoder.decode(line)
    return text.trim() === '' ? undefined : text
  }

  #check(size: number): void {
    // The terminator does not count, and it may be two bytes.
    if (size > this.#maxBytes + 1) throw new LineTooLongError(`a line is longer than ${this.#maxBytes} bytes`)
  }
}
