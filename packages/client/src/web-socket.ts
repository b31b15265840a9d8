import { ExecError } from '@waldo/environment'
import type { Connect, Transport, TransportEvents } from '@waldo/rpc'
import { deferred } from './deferred.ts'

/** What every WebSocket has, in a browser and elsewhere. */
export interface AnyWebSocket {
  readonly bufferedAmount: number
  binaryType: string
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onerror: ((event: unknown) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  send(text: string): void
  close(code?: number, reason?: string): void
}

const CLOSE_MS = 2000

/** Connects through a WebSocket that somebody makes. What it receives it cannot hold back. */
export function connectWebSocket(create: () => AnyWebSocket): Connect {
  return (events, signal) =>
    new Promise<Transport>((resolve, reject) => {
      signal.throwIfAborted()
      const socket = create()
      const transport = new WebSocketTransport(socket, events)
      let problem = ''
      const abort = () => {
        transport.drop()
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      socket.onopen = () => {
        signal.removeEventListener('abort', abort)
        transport.opened = true
        resolve(transport)
      }
      socket.onerror = (event) => {
        problem = (event as { message?: string }).message ?? ''
      }
      socket.onclose = ({ code, reason }) => {
        signal.removeEventListener('abort', abort)
        const why = [problem, reason, code === 1000 ? '' : `code ${code}`].filter((text) => text !== '').join(', ')
        if (transport.opened) transport.ended(why || 'closed')
        else reject(new ExecError('CONNECT_FAILED', `no WebSocket connection: ${why}`))
      }
      socket.onmessage = ({ data }) => events.received(textOf(data))
    })
}

class WebSocketTransport implements Transport {
  readonly #socket: AnyWebSocket
  readonly #events: TransportEvents
  readonly #gone = deferred<void>()
  opened = false

  constructor(socket: AnyWebSocket, events: TransportEvents) {
    this.#socket = socket
    this.#events = events
    socket.binaryType = 'arraybuffer'
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string): void {
    this.#socket.send(text)
  }

  async close(): Promise<void> {
    this.#socket.close(1000)
    const timer = setTimeout(() => this.drop(), CLOSE_MS)
    await this.#gone.promise
    clearTimeout(timer)
  }

  drop(): void {
    this.#socket.close()
    // The end is reported when the other side has answered, which may be never.
    this.ended('dropped')
  }

  ended(reason: string): void {
    this.#gone.resolve()
    if (this.opened) this.#events.closed(reason)
    this.opened = false
  }
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data
  return new TextDecoder().decode(data as ArrayBuffer)
}
