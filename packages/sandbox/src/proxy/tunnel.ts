import type { Socket } from 'node:net'

/**
 * Passes everything on in both directions, at the pace of the slower side, until both have ended, one fails, or nothing
 * has moved for `idleMs`. Each may end its own direction first. Resolves when both sockets are closed.
 */
export async function tunnel(client: Socket, server: Socket, early: Buffer, idleMs: number): Promise<void> {
  const closed = Promise.all([client, server].map(whenClosed))
  // It may have left while the server was being reached.
  if (client.destroyed) server.destroy()
  const destroy = () => {
    client.destroy()
    server.destroy()
  }
  // What moves on one side moves on the other.
  server.setTimeout(idleMs, destroy)
  for (const socket of [client, server]) {
    socket.on('error', destroy)
    // Pipes end the other side when this one has ended, but not when it is cut.
    socket.on('close', () => {
      if (!socket.readableEnded || !socket.writableFinished) destroy()
    })
  }
  if (early.length > 0) server.write(early)
  client.pipe(server)
  server.pipe(client)
  await closed
}

export function whenClosed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
  })
}
