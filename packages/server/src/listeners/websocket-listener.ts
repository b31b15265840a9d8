import { limits } from '@waldo/protocol'
import type { Wire, WireEvents } from '../wire.ts'
import type { Authenticator } from './authentication.ts'

export interface WebSocketListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | { readonly unix: string }
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly authenticate: Authenticator | undefined
  readonly connect: (wire: Wire) => WireEvents
}

export interface WebSocketListener {
  /** Where it listens; 0 on a unix socket. */
  readonly port: number
  /** Takes no new connections. */
  stop(): void
}

interface SocketData {
  readonly peer: string
  events: WireEvents | undefined
}
type Socket = Bun.ServerWebSocket<SocketData>

/** Listens for WebSocket clients, on TCP or on a unix socket. Throws if it cannot. */
export function listenForWebSockets(options: WebSocketListenerOptions): WebSocketListener {
  const { at, tls, authenticate, connect } = options
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const server = Bun.serve<SocketData>({
    // Seconds for a client to make up its mind; connections that say nothing are closed.
    ...('unix' in at ? { unix: at.unix } : { hostname: at.host, port: at.port, idleTimeout: 10 }),
    ...(tls && { tls }),
    fetch(request, server) {
      const refusal = refuse(request, authenticate)
      if (refusal) return refusal
      const address = server.requestIP(request)
      const peer = address ? `${address.address}:${address.port}` : 'unix socket'
      if (server.upgrade(request, { data: { peer, events: undefined } })) return undefined
      return new Response("Connection header did not include 'upgrade'", { status: 400 })
    },
    error: () => new Response(null, { status: 500 }),
    websocket: {
      maxPayloadLength: limits.messageBytes,
      // Both are the connection's business: it knows what it has sent and what it is waiting for.
      idleTimeout: 0,
      sendPings: false,
      perMessageDeflate: false,
      // What is queued is bounded where it comes from. Should that fail, losing the connection beats losing a message.
      backpressureLimit: 4 * limits.messageBytes,
      closeOnBackpressureLimit: true,
      open(socket) {
        socket.data.events = connect(new SocketWire(socket))
      },
      message({ data }, message) {
        if (typeof message === 'string') data.events?.received(message)
        else data.events?.received(decodeBinary(decoder, message))
      },
      pong({ data }, token) {
        data.events?.ponged(token.toString('latin1'))
      },
      drain({ data }) {
        data.events?.drained()
      },
      close({ data }) {
        data.events?.closed()
      },
    },
  })
  return { port: server.port ?? 0, stop: () => void server.stop() }
}

function refuse(request: Request, authenticate: Authenticator | undefined): Response | undefined {
  const status = (code: number, text?: string) => new Response(text ?? null, { status: code })
  // Only browsers send it, and a page that the user happens to visit must not reach the executor.
  if (request.headers.has('origin')) return status(403)
  const { pathname } = new URL(request.url)
  const { method } = request
  if (pathname === '/readyz') return status(method === 'GET' || method === 'HEAD' ? 200 : 405)
  if (pathname !== '/') return status(404)
  if (method !== 'GET') return status(405, 'Request method must be `GET`')
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return undefined
  const problem = authenticate?.(request.headers.get('authorization'))
  if (problem === undefined) return undefined
  return new Response(problem, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
}

/** Clients may send JSON in binary frames. What is not UTF-8 is not JSON, and the parser will say so. */
function decodeBinary(decoder: TextDecoder, message: Buffer): string {
  try {
    return decoder.decode(message)
  } catch {
    return '\ufffd'
  }
}

class SocketWire implements Wire {
  readonly canPing = true
  readonly peer: string
  readonly name: string
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    this.peer = socket.data.peer
    this.name = `websocket ${this.peer}`
  }

  get queuedBytes(): number {
    return this.#socket.getBufferedAmount()
  }

  send(text: string): void {
    this.#socket.sendText(text)
  }

  ping(token: string): void {
    this.#socket.ping(token)
  }

  batch(sends: () => void): void {
    this.#socket.cork(sends)
  }

  pauseReading(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    this.#socket.resume()
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }
}
