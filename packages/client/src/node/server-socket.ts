import type { Connect } from '@waldo/rpc'
import { parseServerUrl } from '../server-url.ts'
import { type AnyWebSocket, connectWebSocket } from '../web-socket.ts'

/** One frame of a large answer has at most 8 MiB, a message 64 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

export interface SocketOptions {
  /** `ws://…`, `wss://…` or `unix:///path`. */
  readonly url: string
  /** Asked for at each attempt, if it is a function: it may have been renewed. */
  readonly token?: string | (() => Promise<string>) | undefined
}

/** Connects to a server over TCP or a unix socket. Nothing is opened before it is called. */
export function connectToServer({ url, token }: SocketOptions): Connect {
  const target = parseServerUrl(url, token !== undefined)
  const isBun = 'Bun' in globalThis
  const address =
    target.kind === 'socket' ? target.url.href : isBun ? `ws+unix://${target.path}` : `ws+unix:${target.path}:/`
  return async (events, signal) => {
    const secret = typeof token === 'function' ? await token() : token
    const headers: Record<string, string> = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
    if (isBun) {
      const Native = globalThis.WebSocket as unknown as new (url: string, options: object) => AnyWebSocket
      return await connectWebSocket(() => new Native(address, { headers }))(events, signal)
    }
    // Node has a WebSocket of its own since 22, but none that takes headers or unix sockets.
    const { WebSocket } = await import('ws')
    const options = { headers, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES, skipUTF8Validation: true }
    return await connectWebSocket(() => new WebSocket(address, options) as unknown as AnyWebSocket)(events, signal)
  }
}
