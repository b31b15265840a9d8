import { networkInterfaces } from 'node:os'
import type { Wire, WireEvents } from '../wire.ts'
import type { Authenticator } from './authentication.ts'
import { Newcomer } from './newcomer.ts'
import { WebSocketWire } from './websocket-wire.ts'

export interface WebSocketListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | { readonly unix: string }
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly authenticate: Authenticator | undefined
  readonly connect: (wire: Wire) => WireEvents
  /** Whether somebody in one of our sandboxes is at the other end. */
  readonly isFromSandbox: (peerPort: number, ownPort: number) => boolean
}

export interface WebSocketListener {
  /** Where it listens; 0 on a unix socket. */
  readonly port: number
  /** Takes no new connections. */
  stop(): void
}

/** Who takes what happens on a socket: first somebody who speaks HTTP, then somebody who speaks WebSocket. */
interface SocketData {
  owner: Newcomer | WebSocketWire | undefined
}

/** Listens for WebSocket clients, on TCP or on a unix socket. Throws if it cannot. */
export function listenForWebSockets(options: WebSocketListenerOptions): WebSocketListener {
  const { at, tls, authenticate, connect, isFromSandbox } = options
  const newcomers = new Set<Newcomer>()
  const socket: Bun.SocketHandler<SocketData> = {
    open(socket) {
      const peer = 'unix' in at ? 'unix socket' : `${socket.remoteAddress}:${socket.remotePort}`
      socket.setNoDelay(true)
      // With the network of this machine a sandbox reaches us, and we would be the way out of it.
      const refuse = () =>
        'host' in at && isLocal(socket.remoteAddress) && isFromSandbox(socket.remotePort, socket.localPort)
          ? 'from inside a sandbox nobody may ask its executor for anything'
          : undefined
      const newcomer = new Newcomer(
        socket,
        { authenticate, refuse },
        {
          upgraded(frames) {
            newcomers.delete(newcomer)
            const wire = new WebSocketWire(socket, peer, connect)
            socket.data = { owner: wire }
            if (frames.length > 0) wire.receive(frames)
          },
          ended: () => newcomers.delete(newcomer),
        },
      )
      newcomers.add(newcomer)
      socket.data = { owner: newcomer }
    },
    // That there is one makes TLS call `open` before the handshake, which must not take for ever either.
    handshake() {},
    data: (socket, chunk) => socket.data.owner?.receive(chunk),
    drain: (socket) => socket.data.owner?.drain(),
    close: (socket) => socket.data.owner?.ended(),
    // Of TLS: `close` follows.
    error() {},
  }
  const common = { socket, data: { owner: undefined }, ...(tls && { tls }) }
  const listener =
    'unix' in at
      ? Bun.listen<SocketData>({ unix: at.unix, ...common })
      : Bun.listen<SocketData>({ hostname: at.host, port: at.port, ...common })
  return {
    port: 'port' in listener ? listener.port : 0,
    stop() {
      listener.stop()
      for (const newcomer of newcomers) newcomer.terminate()
    },
  }
}

/** Of this machine: a sandbox may use any of its addresses. */
function isLocal(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  if (/^127\.|^::1$/.test(plain)) return true
  return Object.values(networkInterfaces()).some((own) => own?.some((each) => each.address === plain))
}
