import type { Socket } from 'node:net'

export type IncomingProblem = 'gone' | 'late' | 'large'

/** The client has not said what it wants. */
export class IncomingError extends Error {
  override readonly name = 'IncomingError'
  readonly problem: IncomingProblem
  constructor(problem: IncomingProblem) {
    super(`the client is ${problem}`)
    this.problem = problem
  }
}

/** Takes what it needs from the beginning of `bytes`, and says how much that is; undefined if it needs more. */
export type Parse<T> = (bytes: Buffer) => { value: T; length: number } | undefined

const FIRST_BYTES = 4 * 1024

/** What a client says before it is connected to somebody. It is held back until it is asked for. */
export class Incoming {
  readonly #socket: Socket
  readonly #timer: NodeJS.Timeout
  #memory = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0
  #problem: IncomingProblem | undefined
  #more: (() => void) | undefined

  constructor(socket: Socket, limitMs: number) {
    this.#socket = socket
    this.#timer = setTimeout(() => this.#stop('late'), limitMs)
    socket.on('data', this.#append)
    socket.on('end', this.#leave)
    socket.on('close', this.#leave)
    socket.pause()
  }

  /** Throws an `IncomingError`. */
  async take<T>(parse: Parse<T>, maxBytes: number): Promise<T> {
    for (;;) {
      const taken = parse(this.#memory.subarray(0, this.#length))
      if ((taken?.length ?? this.#length) > maxBytes) throw new IncomingError('large')
      if (taken) {
        this.#memory.copyWithin(0, taken.length, this.#length)
        this.#length -= taken.length
        return taken.value
      }
      if (this.#problem) throw new IncomingError(this.#problem)
      await this.#wait()
    }
  }

  /** Stops to listen, and returns what has come and was not taken. The socket stands still until it is resumed. */
  detach(): Buffer {
    clearTimeout(this.#timer)
    this.#socket.off('data', this.#append)
    this.#socket.off('end', this.#leave)
    this.#socket.off('close', this.#leave)
    this.#socket.pause()
    return this.#memory.subarray(0, this.#length)
  }

  async #wait(): Promise<void> {
    const more = Promise.withResolvers<void>()
    this.#more = more.resolve
    this.#socket.resume()
    await more.promise
  }

  readonly #append = (bytes: Buffer): void => {
    this.#socket.pause()
    const needed = this.#length + bytes.length
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#memory.length))
      this.#memory.copy(larger, 0, 0, this.#length)
      this.#memory = larger
    }
    bytes.copy(this.#memory, this.#length)
    this.#length = needed
    this.#more?.()
  }

  readonly #leave = (): void => this.#stop('gone')

  #stop(problem: IncomingProblem): void {
    this.#problem ??= problem
    this.#more?.()
  }
}
