import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A wire between a client and a server that can be cut, or go dead without either side being told. */
export interface WireProxy extends AsyncDisposable {
  readonly url: string
  /** Ends all connections on both sides. */
  cut(): void
  /** Passes nothing on and ends nothing: what a vanished network looks like, or a client that has stopped reading. */
  freeze(): void
  thaw(): void
}

export async function startProxy(targetUrl: string): Promise<WireProxy> {
  const target = new URL(targetUrl)
  const pairs = new Set<[Socket, Socket]>()
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [client, server]
    pairs.add(pair)
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => pairs.delete(pair))
    }
    client.pipe(server)
    server.pipe(client)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    url: `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cut,
    freeze() {
      for (const [client, server] of pairs) {
        client.unpipe(server).pause()
        server.unpipe(client).pause()
      }
    },
    thaw() {
      for (const [client, server] of pairs) {
        client.pipe(server)
        server.pipe(client)
      }
    },
    async [Symbol.asyncDispose]() {
      cut()
      listener.close()
    },
  }
}
