const KEPT_BYTES = 64 * 1024
const LF = 0x0a

/** The last lines of what a process has said, for those who want to know why it failed. */
export class LastOutput {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #isWhole = true

  push(data: Uint8Array): void {
    this.#isWhole &&= data.length <= KEPT_BYTES
    // A copy, which `slice` of a Buffer is not: the memory behind it may be used again.
    this.#chunks.push(new Uint8Array(data.subarray(-KEPT_BYTES)))
    this.#bytes += Math.min(data.length, KEPT_BYTES)
    if (this.#bytes > 2 * KEPT_BYTES) this.#compact()
  }

  /** From the beginning of a line. */
  text(): string {
    this.#compact()
    const last = this.#chunks[0]!
    return new TextDecoder().decode(this.#isWhole ? last : last.subarray(last.indexOf(LF) + 1))
  }

  #compact(): void {
    const all = Buffer.concat(this.#chunks)
    const last = all.subarray(-KEPT_BYTES)
    this.#isWhole &&= last.length === all.length
    this.#chunks = [last]
    this.#bytes = last.length
  }
}
