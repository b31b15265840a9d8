import { isAscii } from 'node:buffer'
import type { Socket } from 'node:net'
import { decodeUtf8, encodeClosePayload, FrameError, Opcode, type Transport, type TransportEvents } from '@waldo/rpc'
import { deferred } from '../deferred.ts'
import { clientFrame } from './client-frame.ts'
import { ServerFrames } from './server-frames.ts'

/** An answer may come in fragments of 8 MiB; whole it has at most this. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
/** For the other side to say goodbye. */
const CLOSE_MS = 2000
/** After so long without a sign of life we ask for one, and after twice as long we give up. */
const SILENCE_MS = 15_000

/** A WebSocket, from after the upgrade to the end. */
export class SocketTransport implements Transport {
  readonly #socket: Socket
  readonly #events: TransportEvents
  readonly #gone = deferred<void>()
  readonly #watchdog: ReturnType<typeof setInterval>
  #heardAt = performance.now()
  #leaving = false
  /** Why it ended, as far as somebody has said. */
  #reason: string | undefined
  #ended = false

  constructor(socket: Socket, events: TransportEvents, silenceMs = SILENCE_MS) {
    this.#socket = socket
    this.#events = events
    const frames = new ServerFrames(
      {
        message: (bytes) => this.#received(bytes),
        ping: (payload) => this.#write(Opcode.pong, payload),
        pong: () => {},
        close: (code, reason) => this.#goodbye(code, reason),
      },
      MAX_MESSAGE_BYTES,
    )
    socket.on('data', (bytes: Buffer) => {
      this.#heardAt = performance.now()
      try {
        if (!this.#ended) frames.push(bytes)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        this.#drop(error.message)
      }
    })
    socket.on('error', (error) => this.#end(error.message))
    socket.on('end', () => this.#drop('the other side hung up'))
    socket.on('close', () => {
      this.#end('the other side hung up')
      clearInterval(this.#watchdog)
      this.#gone.resolve()
    })
    this.#watchdog = setInterval(() => this.#watch(silenceMs), silenceMs / 3)
    this.#watchdog.unref()
    // It may have gone before anybody listened.
    if (socket.destroyed) queueMicrotask(() => socket.emit('close'))
    else socket.resume()
  }

  get queuedBytes(): number {
    return this.#socket.writableLength
  }

  send(text: string): void {
    this.#write(Opcode.text, text)
  }

  pauseReading(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    // It was not the other side that was silent.
    this.#heardAt = performance.now()
    this.#socket.resume()
  }

  async close(): Promise<void> {
    if (!this.#leaving) {
      this.#write(Opcode.close, encodeClosePayload({ code: 1000, reason: '' }))
      this.#leaving = true
    }
    this.#socket.resume()
    const timer = setTimeout(() => this.#drop('closed'), CLOSE_MS)
    await this.#gone.promise
    clearTimeout(timer)
  }

  #write(opcode: number, payload: string | Uint8Array): void {
    if (!this.#leaving && !this.#ended) this.#socket.write(clientFrame(opcode, payload))
  }

  #received(bytes: Buffer): void {
    // Nearly everything is base64, and Node is much faster at this than at UTF-8.
    const text = isAscii(bytes) ? bytes.toString('latin1') : decodeUtf8(bytes, 0, bytes.length)
    if (text === undefined) throw new FrameError(1007, 'a text is not UTF-8')
    if (!this.#ended) this.#events.received(text)
  }

  #goodbye(code: number, reason: string): void {
    this.#reason = reason === '' ? `the server closed the connection with code ${code}` : `${reason} (code ${code})`
    this.#write(Opcode.close, encodeClosePayload({ code: 1000, reason: '' }))
    this.#leaving = true
    this.#socket.end()
    this.#end(this.#reason)
  }

  /** A wire that is cut somewhere far away says nothing at all. */
  #watch(silenceMs: number): void {
    if (this.#socket.isPaused()) return
    const silence = performance.now() - this.#heardAt
    if (silence > 2 * silenceMs) this.#drop(`nothing was heard for ${Math.round(silence / 1000)} s`)
    else if (silence > silenceMs) this.#write(Opcode.ping, new Uint8Array())
  }

  #drop(reason: string): void {
    this.#socket.destroy()
    this.#end(reason)
  }

  #end(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#events.closed(this.#reason ?? reason)
  }
}
