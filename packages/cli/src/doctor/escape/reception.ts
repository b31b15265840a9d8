import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** Short enough to be there as a whole before anybody can leave. */
const ANSWER = 'HTTP/1.0 200 OK\r\n\r\nhere\n'

/** Listens on a port and two UNIX sockets, and remembers whoever has come. */
export class Reception implements AsyncDisposable {
  readonly visits: string[] = []
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()

  private constructor() {}

  static async open(path: string, abstractName: string): Promise<Reception> {
    const reception = new Reception()
    try {
      await reception.#listen('a port', { host: '127.0.0.1', port: 0 })
      await reception.#listen('a UNIX socket', { path })
      await reception.#listen('an abstract UNIX socket', { path: abstractName })
      return reception
    } catch (error) {
      await reception[Symbol.asyncDispose]()
      throw error
    }
  }

  get port(): number {
    return (this.#servers[0]!.address() as AddressInfo).port
  }

  async #listen(place: string, address: { host: string; port: number } | { path: string }): Promise<void> {
    const server = createServer((socket) => {
      this.visits.push(place)
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      // Visitors may go as they please.
      socket.on('error', () => {})
      socket.resume()
      socket.end(ANSWER)
    })
    server.listen(address)
    await once(server, 'listening')
    this.#servers.push(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      const closed = once(server, 'close')
      server.close()
      for (const socket of this.#sockets) socket.destroy()
      await closed
    }
  }
}
