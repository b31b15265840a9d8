import { UsageError } from './usage-error.ts'

/** What a command gets that writes where nobody reads: 128 and SIGPIPE. */
export const BROKEN_PIPE = 141

/** Whoever read our output does not any more. */
export class OutputClosedError extends Error {}

/** One of our own outputs. What it does not take is waited for, so that no more is read meanwhile. */
export class StandardStream {
  readonly #stream: NodeJS.WriteStream
  #failure: Error | undefined
  #wake: () => void = () => {}

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const gone = error.code === 'EPIPE' || error.code === 'EIO'
      this.#failure = gone ? new OutputClosedError() : new UsageError(`cannot write what came: ${error.message}`)
      this.#wake()
    })
    stream.on('drain', () => this.#wake())
  }

  async write(data: Uint8Array | string): Promise<void> {
    if (!this.#failure && !this.#stream.write(data)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#failure) throw this.#failure
  }

  /** Everything has been taken. */
  async flush(): Promise<void> {
    if (this.#stream.writableLength > 0 && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#stream.write('', () => resolve())
      })
    }
    if (this.#failure) throw this.#failure
  }
}
