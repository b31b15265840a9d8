const KEPT_BYTES = 64 * 1024

/** The end of what a process has said, for those who want to know why it failed. */
export class LastOutput {
  #chunks: Uint8Array[] = []
  #bytes = 0

  push(data: Uint8Array): void {
    // The memory behind it may be used again.
    this.#chunks.push(data.slice(-KEPT_BYTES))
    this.#bytes += Math.min(data.length, KEPT_BYTES)
    if (this.#bytes > 2 * KEPT_BYTES) this.#compact()
  }

  text(): string {
    this.#compact()
    return new TextDecoder().decode(this.#chunks[0])
  }

  #compact(): void {
    const last = Buffer.concat(this.#chunks).subarray(-KEPT_BYTES)
    this.#chunks = [last]
    this.#bytes = last.length
  }
}
