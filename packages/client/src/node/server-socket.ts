import type { Connect } from '@waldo/rpc'
import { parseServerUrl } from '../server-url.ts'
import { SocketTransport } from './socket-transport.ts'
import { openUpgradedSocket } from './upgraded-socket.ts'

export interface SocketOptions {
  /** `ws://…`, `wss://…` or `unix:///path`. */
  readonly url: string
  /** Asked for at each attempt, if it is a function: it may have been renewed. */
  readonly token?: string | (() => Promise<string>) | undefined
}

/** Connects to a server over TCP or a unix socket. Nothing is opened before it is called. */
export function connectToServer({ url, token }: SocketOptions): Connect {
  return async (events, signal) => {
    // Now: an environment that nobody uses may be as wrong as it likes.
    const target = parseServerUrl(url, token !== undefined)
    const secret = typeof token === 'function' ? await token() : token
    // A line break in it would begin another header.
    if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret)) throw new Error('the token is not printable ASCII')
    const headers: Record<string, string> = secret === undefined ? {} : { Authorization: `Bearer ${secret}` }
    return new SocketTransport(await openUpgradedSocket(target, headers, signal), events)
  }
}
