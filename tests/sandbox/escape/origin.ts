import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\norigin'
const HEAD_BYTES = 16 * 1024

/** A web server of the host that says "origin", and remembers everybody who as much as connected. */
export class Origin implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #visits: string[] = []

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(address: string, port = 0): Promise<Origin> {
    const origin = new Origin()
    origin.#server.listen(port, address)
    await once(origin.#server, 'listening')
    return origin
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Who has come since the last time this was asked. */
  takeVisits(): string[] {
    const visits = this.#visits
    this.#visits = []
    return visits
  }

  #serve(socket: Socket): void {
    this.#visits.push('origin: a connection')
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    // Visitors may go as they please.
    socket.on('error', () => undefined)
    let head = ''
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      if (head.length > HEAD_BYTES) socket.destroy()
      if (!head.includes('\r\n\r\n')) return
      this.#visits.push(`origin: ${head.split('\r\n')[0]}`)
      socket.end(ANSWER)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
