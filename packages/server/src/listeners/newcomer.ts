import { type Admission, answerRequest } from './http-upgrade.ts'
import { reportDefect } from './report-defect.ts'
import { parseRequestHead } from './request-head.ts'

const MAX_HEAD_BYTES = 16 * 1024
/** From the connection to the end of the head, TLS included, however the bytes in between come. */
const DECIDE_MS = 10_000
const NOTHING = Buffer.alloc(0)
/** For somebody who was refused to read why. */
const GOODBYE_MS = 2000

export interface NewcomerEvents {
  /** It speaks WebSocket from now on; `frames` is what has come of that already. Nothing else happens here. */
  upgraded(frames: Uint8Array): void
  ended(): void
}

/** Somebody who has connected and not yet said, in HTTP, what for. One request is all there is. */
export class Newcomer {
  readonly #socket: Bun.Socket<unknown>
  readonly #admission: Admission
  readonly #events: NewcomerEvents
  #timer: ReturnType<typeof setTimeout>
  #head: Buffer = NOTHING
  #answered = false

  constructor(socket: Bun.Socket<unknown>, admission: Admission, events: NewcomerEvents) {
    this.#socket = socket
    this.#admission = admission
    this.#events = events
    this.#timer = this.#terminateAfter(DECIDE_MS)
  }

  receive(chunk: Buffer): void {
    // A body, which nobody has asked for.
    if (this.#answered) return
    const searchedBytes = Math.max(0, this.#head.length - 3)
    // Again and again for a head that drips in, but of never more than its limit and one chunk.
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    const end = this.#head.indexOf('\r\n\r\n', searchedBytes)
    if (end < 0 && this.#head.length <= MAX_HEAD_BYTES) return
    const isTooLong = end < 0 || end > MAX_HEAD_BYTES
    try {
      this.#answer(isTooLong ? '' : this.#head.toString('latin1', 0, end), this.#head.subarray(end + 4))
    } catch (error) {
      reportDefect(error)
      this.terminate()
    }
  }

  /** Never: there is nothing that could wait to be sent. */
  drain(): void {}

  /** The socket is gone. */
  ended(): void {
    clearTimeout(this.#timer)
    this.#events.ended()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #answer(head: string, rest: Buffer): void {
    this.#answered = true
    clearTimeout(this.#timer)
    const { upgraded, text } = answerRequest(parseRequestHead(head), this.#admission)
    // Nothing was sent before: what a system does not take of so little it will not take.
    if (this.#socket.write(text) < text.length) this.terminate()
    else if (upgraded) this.#events.upgraded(rest)
    else {
      // What is still on its way here is read and ignored: to close now would make the system discard the answer.
      this.#socket.shutdown()
      this.#timer = this.#terminateAfter(GOODBYE_MS)
    }
  }

  #terminateAfter(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.terminate(), ms).unref()
  }
}
