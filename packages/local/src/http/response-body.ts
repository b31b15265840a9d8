/** From here on the server waits. What the system has read at once comes on top: up to half a MiB. */
const PAUSE_BYTES = 64 * 1024
/** What a piece costs besides its bytes: a server that sends them one by one has to wait as well. */
const PIECE_BYTES = 256

/** Who holds the body's tap. */
export interface BodySource {
  pause(): void
  resume(): void
  /** Nobody wants the rest. */
  abandon(): void
}

/** A body on its way from a connection to a reader: each piece as soon as it comes, and few of them waiting. */
export class ResponseBody {
  readonly #source: BodySource
  readonly #pieces: Uint8Array[] = []
  #buffered = 0
  #paused = false
  #state: 'open' | 'ended' | { readonly failure: Error } = 'open'
  #reader: PromiseWithResolvers<Uint8Array | undefined> | undefined
  #onSettled: (() => void) | undefined

  constructor(source: BodySource) {
    this.#source = source
  }

  /** Calls when all of it has come, or no more will: now, if that is so. */
  whenSettled(action: () => void): void {
    if (this.#state === 'open') this.#onSettled = action
    else action()
  }

  /** The next piece, undefined at the end. One call at a time. */
  read(): Promise<Uint8Array | undefined> {
    if (this.#reader) return Promise.reject(new Error('a read is under way already'))
    const piece = this.#pieces.shift()
    if (piece) {
      this.#buffered -= piece.length + PIECE_BYTES
      this.#flow()
      return Promise.resolve(piece)
    }
    if (this.#state === 'ended') return Promise.resolve(undefined)
    if (this.#state !== 'open') return Promise.reject(this.#state.failure)
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  push(piece: Uint8Array): void {
    const reader = this.#takeReader()
    if (reader) {
      reader.resolve(piece)
      return
    }
    this.#pieces.push(piece)
    this.#buffered += piece.length + PIECE_BYTES
    this.#flow()
  }

  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    this.#onSettled?.()
    this.#takeReader()?.resolve(undefined)
  }

  /** What has come before is still read, unless `discard`. */
  fail(failure: Error, discard: boolean): void {
    if (this.#state !== 'open') return
    this.#state = { failure }
    this.#onSettled?.()
    if (discard) this.#clear()
    this.#takeReader()?.reject(failure)
  }

  cancel(): void {
    this.#clear()
    if (this.#state === 'open') this.#source.abandon()
  }

  #clear(): void {
    this.#pieces.length = 0
    this.#buffered = 0
  }

  #takeReader(): PromiseWithResolvers<Uint8Array | undefined> | undefined {
    const reader = this.#reader
    this.#reader = undefined
    return reader
  }

  #flow(): void {
    const pause = this.#buffered >= PAUSE_BYTES
    if (pause === this.#paused || this.#state !== 'open') return
    this.#paused = pause
    if (pause) this.#source.pause()
    else this.#source.resume()
  }
}
