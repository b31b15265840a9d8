import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { ownsConnection } from './connection-owner.ts'

/** Connects where it is told, says from where, and waits. */
const CONNECT = `
import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(s.getsockname()[1], flush=True)
sys.stdin.read()`

describe('the owner of a connection', () => {
  const servers: Server[] = []
  const accepted: Socket[] = []
  async function listen(host: string): Promise<number> {
    const server = createServer((socket) => accepted.push(socket))
    servers.push(server)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
    return (server.address() as { port: number }).port
  }
  /** Another process that is connected to us. */
  async function connect(host: string, port: number) {
    const command = ['python3', '-c', CONNECT, host, String(port)]
    const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] })
    const { value } = await child.stdout.getReader().read()
    return {
      pid: child.pid,
      port: Number(new TextDecoder().decode(value)),
      close: () => child.stdin.end(),
      exited: child.exited,
    }
  }
  let port: number
  before(async () => {
    port = await listen('127.0.0.1')
  })
  after(() => {
    for (const socket of accepted) socket.destroy()
    for (const server of servers) server.close()
  })

  test('is who has its other end, and nobody else', async () => {
    const [first, second] = [await connect('127.0.0.1', port), await connect('127.0.0.1', port)]
    assert.equal(ownsConnection([first.pid], first.port, port), true)
    assert.equal(ownsConnection([second.pid], first.port, port), false)
    assert.equal(ownsConnection([process.pid], first.port, port), false)
    assert.equal(ownsConnection([second.pid, first.pid], first.port, port), true)
    assert.equal(ownsConnection([], first.port, port), false)
    for (const { close, exited } of [first, second]) {
      await close()
      await exited
    }
    assert.equal(ownsConnection([first.pid], first.port, port), false)
  })

  test('is told apart by both ports', async () => {
    const other = await listen('127.0.0.1')
    const child = await connect('127.0.0.1', port)
    assert.equal(ownsConnection([child.pid], child.port, other), false)
    assert.equal(ownsConnection([child.pid], port, child.port), false)
    assert.equal(ownsConnection([process.pid], port, child.port), true)
    await child.close()
    await child.exited
  })

  test('is also known with IPv6', async (context) => {
    const port6 = await listen('::1').catch(() => undefined)
    if (port6 === undefined) return context.skip('there is no IPv6 here')
    const child = await connect('::1', port6)
    assert.equal(ownsConnection([child.pid], child.port, port6), true)
    await child.close()
    await child.exited
  })

  test('is nobody if it has ended, or was never there', () => {
    assert.equal(ownsConnection([2 ** 22 + 1], 1, port), false)
    assert.equal(ownsConnection([process.pid], 1, port), false)
  })
})
