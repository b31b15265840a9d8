import { connect, type Socket } from 'node:net'
import { UnreachableError } from './resolver.ts'

/** For one address, as long as there is another to try. */
const ADDRESS_MS = 3_000
const MAX_ADDRESSES = 8

/** Connects to the first of these addresses that answers. */
export async function dial(
  addresses: readonly string[],
  port: number,
  { dialMs, signal }: { dialMs: number; signal: AbortSignal },
): Promise<Socket> {
  const startedAt = performance.now()
  const leftMs = () => Math.max(1, dialMs - (performance.now() - startedAt))
  const [last, ...others] = addresses.slice(0, MAX_ADDRESSES).reverse()
  for (const address of others.reverse()) {
    try {
      return await connectTo(address, port, Math.min(ADDRESS_MS, leftMs()), signal)
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
    }
  }
  return connectTo(last!, port, leftMs(), signal)
}

function connectTo(address: string, port: number, limitMs: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true, allowHalfOpen: true })
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const fail = (error: Error) => {
      settle()
      socket.destroy()
      reject(error)
    }
    const abort = () => fail(signal.reason)
    const timer = setTimeout(() => {
      fail(new UnreachableError(`no connection within ${Math.round(limitMs)} ms`, { timedOut: true }))
    }, limitMs)
    signal.addEventListener('abort', abort, { once: true })
    // Stays: a socket that fails again while it is being destroyed must not bring the process down.
    socket.on('error', (cause: NodeJS.ErrnoException) => fail(new UnreachableError(describe(cause), { cause })))
    socket.once('connect', () => {
      settle()
      // Nothing is read before somebody listens.
      socket.pause()
      resolve(socket)
    })
    if (signal.aborted) abort()
  })
}

function describe({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ECONNREFUSED' ? 'connection refused' : message
}
