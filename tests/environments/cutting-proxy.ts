import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy extends AsyncDisposable {
  readonly url: string
  /** Connections that were made so far. */
  readonly connections: number
  /** Connections that are open now. */
  readonly open: number
  /** Bytes that went each way, over all connections. */
  readonly bytes: { readonly up: number; readonly down: number }
  /** Ends all connections on both sides, at once. */
  cut(): void
  /** Ends the connection that passes this many bytes, counted from now, right after they were passed on. Once. */
  cutAfter(direction: 'up' | 'down', bytes: number): void
  /** Passes nothing on and ends nothing, as a network does that has vanished. */
  freeze(): void
  /** Takes no connections until `accept`. */
  refuse(): Promise<void>
  accept(): Promise<void>
}

/** More than the answer to an upgrade, less than the answer to `initialize`. */
const HANDSHAKE_BYTES = 500

/**
 * A wire between a client and a server that can be cut. With `lifeMs` every connection is cut by itself, that long after
 * hands were shaken on it.
 */
export async function startProxy(targetUrl: string, lifeMs?: { min: number; max: number }): Promise<CuttingProxy> {
  const target = new URL(targetUrl)
  const pairs = new Set<[Socket, Socket]>()
  const timers = new WeakMap<[Socket, Socket], ReturnType<typeof setTimeout>>()
  const bytes = { up: 0, down: 0 }
  let limit: { direction: 'up' | 'down'; at: number } | undefined
  let connections = 0
  const end = (pair: [Socket, Socket]) => {
    pairs.delete(pair)
    clearTimeout(timers.get(pair))
    for (const socket of pair) socket.destroy()
  }
  const age = (pair: [Socket, Socket]) => {
    if (!lifeMs || timers.has(pair)) return
    const { min, max } = lifeMs
    timers.set(
      pair,
      setTimeout(() => end(pair), min + Math.random() * (max - min)),
    )
  }
  const pass = (direction: 'up' | 'down', pair: [Socket, Socket], from: Socket, to: Socket) => {
    from.on('data', (chunk: Buffer) => {
      const room = limit?.direction === direction ? limit.at - bytes[direction] : Number.POSITIVE_INFINITY
      const passed = chunk.subarray(0, Math.max(0, room))
      bytes[direction] += passed.length
      if (direction === 'down' && from.bytesRead > HANDSHAKE_BYTES) age(pair)
      const isCut = room <= chunk.length
      if (isCut) limit = undefined
      const flowing = to.write(passed, () => {
        if (isCut) end(pair)
      })
      if (isCut) from.pause()
      else if (!flowing) {
        from.pause()
        to.once('drain', () => from.resume())
      }
    })
  }
  const server = createServer((client) => {
    connections++
    const upstream = connect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
    }
    pass('up', pair, client, upstream)
    pass('down', pair, upstream, client)
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const pair of [...pairs]) end(pair)
  }
  const refuse = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      cut()
    })
  return {
    url: `ws://127.0.0.1:${port}`,
    get connections() {
      return connections
    },
    get open() {
      return pairs.size
    },
    bytes,
    cut,
    cutAfter(direction, count) {
      limit = { direction, at: bytes[direction] + count }
    },
    freeze() {
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    refuse,
    accept: () => listen(port),
    async [Symbol.asyncDispose]() {
      await refuse()
    },
  }
}
