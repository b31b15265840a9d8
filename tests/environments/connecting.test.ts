import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type AnyWebSocket, connectWebSocket, RemoteEnvironment } from '@waldo/client'
import { connect, local } from '@waldo/sdk'
import { isAlive } from '@waldo/testkit'
import { fails, until } from './collect.ts'
import { startProxy } from './cutting-proxy.ts'
import { startExecutor } from './executors.ts'
import { ROOT, scratch, WALDO } from './scratch.ts'

/** A server that does with each connection what it is told to. */
async function startSocket(take: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
    take(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Agrees to speak WebSocket. */
function upgrade101(socket: Socket, request: Buffer): void {
  const [, key] = /^sec-websocket-key: (.*)\r$/im.exec(request.toString()) ?? []
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const head = ['HTTP/1.1 101 Fine', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
}

describe('connecting', () => {
  test('happens at the first use, once, however many callers there are', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    assert.equal(env.id, 'remote')
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(proxy.connections, 0)
    await Promise.all(Array.from({ length: 50 }, () => env.ready()))
    await Promise.all(Array.from({ length: 50 }, () => env.files.exists('/')))
    assert.equal(proxy.connections, 1)
  })

  test('to nobody says so, and is tried again at the next use', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await proxy.refuse()
    await using env = connect(proxy.url)
    const error = await fails(env.ready(), 'CONNECT_FAILED')
    assert.match(error.message, /127\.0\.0\.1:\d+.*ECONNREFUSED/)
    assert.deepEqual(env.status, { state: 'failed', error })
    await proxy.accept()
    await env.ready()
    assert.equal(env.status.state, 'ready')
  })

  test('to somebody who never answers ends after the time that was given', async () => {
    await using mute = await startSocket(() => {})
    await using upgrade = connect({ url: mute.url, connectTimeoutMs: 100 })
    assert.match((await fails(upgrade.ready(), 'CONNECT_FAILED')).message, /connecting to .* took longer than 100 ms/)
    await until(() => mute.sockets.size === 0)
    await using deaf = await startSocket((socket) =>
      socket.once('data', (request: Buffer) => upgrade101(socket, request)),
    )
    await using handshake = connect({ url: deaf.url, initializeTimeoutMs: 100 })
    assert.match(
      (await fails(handshake.ready(), 'CONNECT_FAILED')).message,
      /handshake with ws:.* took longer than 100 ms/,
    )
    await until(() => deaf.sockets.size === 0)
    const silent = { program: 'sleep', args: ['1000'], initializeTimeoutMs: 100 }
    await using command = connect(silent)
    assert.match((await fails(command.ready(), 'CONNECT_FAILED')).message, /handshake with sleep 1000 took longer/)
  })

  test('to something that is no WebSocket server tells what it is', async () => {
    const http = createHttpServer((_, response) =>
      response.writeHead(404, { 'content-length': 12 }).end('nothing here'),
    )
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    await using web = connect(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`)
    assert.match((await fails(web.ready(), 'CONNECT_FAILED')).message, /answered 404 Not Found: nothing here/)
    http.close()
    await using ssh = await startSocket((socket) => socket.write('SSH-2.0-Server\r\n\r\n'))
    await using other = connect(ssh.url)
    assert.match((await fails(other.ready(), 'CONNECT_FAILED')).message, /does not speak WebSocket/)
    await using rude = await startSocket((socket) => socket.destroy())
    await using cut = connect(rude.url)
    await fails(cut.ready(), 'CONNECT_FAILED')
    await using flood = await startSocket((socket) => socket.write(Buffer.alloc(1024 * 1024, 'x')))
    await using endless = connect(flood.url)
    await fails(endless.ready(), 'CONNECT_FAILED')
  })

  test('with a token works if it is the right one, and says what the server says if not', async () => {
    using dir = scratch()
    writeFileSync(dir.at('token'), 'the-right-token-of-some-length\n')
    await using executor = await startExecutor({
      args: ['--ws-auth', 'capability-token', '--ws-token-file', dir.at('token')],
    })
    await using right = connect({ url: executor.url, tokenFile: dir.at('token') })
    await right.ready()
    await using wrong = connect({ url: executor.url, token: 'another' })
    assert.match((await fails(wrong.ready(), 'CONNECT_FAILED')).message, /answered 401/)
    await using without = connect(executor.url)
    assert.match((await fails(without.ready(), 'CONNECT_FAILED')).message, /answered 401/)
    await using missing = connect({ url: executor.url, tokenFile: dir.at('none') })
    assert.match((await fails(missing.ready(), 'CONNECT_FAILED')).message, /cannot read the token/)
    await using split = connect({ url: executor.url, token: 'a\r\nX: y' })
    await fails(split.ready(), 'CONNECT_FAILED')
  })

  test('over TLS is protected, and only to a server that can be trusted', async () => {
    const fixtures = join(ROOT, 'tests/fixtures')
    const tls = ['--tls-cert', join(fixtures, 'localhost.cert.pem'), '--tls-key', join(fixtures, 'localhost.key.pem')]
    await using executor = await startExecutor({ args: tls })
    assert.match(executor.url, /^wss:/)
    await using stranger = connect(executor.url)
    assert.match((await fails(stranger.ready(), 'CONNECT_FAILED')).message, /certificate/i)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      await using env = connect({ url: executor.url, token: 'not-needed' })
      assert.equal(await (await env.processes.start(['echo', 'protected'])).text(), 'protected\n')
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  test('with a token over an unprotected wire to another machine is refused', () => {
    const open = (url: string) => () => connect({ url, token: 'secret' })
    assert.throws(open('ws://example.com:1'), /would send the token unprotected/)
    assert.throws(open('ws://127.0.0.1.example.com:1'), /would send the token unprotected/)
    for (const url of ['ws://127.0.0.1:1', 'ws://[::1]:1', 'ws://localhost:1', 'wss://example.com', 'unix:///run/x']) {
      open(url)()
    }
    assert.throws(() => connect('http://example.com'), /must use ws/)
  })

  test('to a command passes on what it says on standard error, line by line', async () => {
    const said: string[] = []
    const script = `echo 'first line' >&2; printf 'second' >&2; exec ${WALDO} serve --listen stdio`
    await using env = connect({ program: 'sh', args: ['-c', script], onStderr: (line) => said.push(line) })
    await env.ready()
    await env.close()
    assert.deepEqual(said, ['first line', 'second'])
  })

  test('to a command that does not exist or fails at once tells what it said', async () => {
    await using missing = connect({ program: '/no/such/program' })
    assert.match((await fails(missing.ready(), 'CONNECT_FAILED')).message, /no\/such\/program/)
    await using failing = connect({ program: 'sh', args: ['-c', 'echo "no route" >&2; exit 3'] })
    assert.match((await fails(failing.ready(), 'CONNECT_FAILED')).message, /ended with code 3: no route/)
    await using chatty = connect({ program: 'sh', args: ['-c', 'echo welcome; cat'] })
    await fails(chatty.ready(), 'CONNECT_FAILED')
  })

  test('with any standard WebSocket will do', { skip: !('WebSocket' in globalThis) }, async () => {
    await using executor = await startExecutor()
    const { WebSocket } = globalThis as unknown as { WebSocket: new (url: string) => AnyWebSocket }
    const open = (url: string) => {
      const options = { id: 'any', name: url, resumable: true }
      return new RemoteEnvironment({ ...options, connect: connectWebSocket(() => new WebSocket(url)) })
    }
    await using env = open(executor.url)
    const process = await env.processes.start(['sh', '-c', 'echo here; exit 2'])
    assert.equal(await process.text(), 'here\n')
    assert.equal((await process.wait()).exitCode, 2)
    await using nobody = open('ws://127.0.0.1:1')
    await fails(nobody.ready(), 'CONNECT_FAILED')
  })

  test('closing leaves no executor, helper or socket behind', async () => {
    using dir = scratch()
    const args = ['-c', `echo $$ > ${dir.at('pid')}; exec ${WALDO} serve --listen stdio --state-dir ${dir.at('state')}`]
    const env = connect({ program: 'sh', args })
    const process = await env.processes.start(['sleep', '1000'])
    const pids = [(await env.processes.list())[0]!.pid, Number(await env.files.readText(dir.at('pid')))]
    assert.ok(pids.every(isAlive))
    await env.close()
    assert.equal((await process.wait()).state, 'lost')
    await until(() => !pids.some(isAlive))
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    const remote = connect(proxy.url)
    await remote.ready()
    await remote.close()
    await until(() => proxy.open === 0)
  })

  test('a command that ignores its end is made to end', async () => {
    using dir = scratch()
    const script = `echo $$ > ${dir.at('pid')}; trap "" TERM; while :; do sleep 0.1; done`
    const env = connect({ program: 'sh', args: ['-c', script], initializeTimeoutMs: 300 })
    await fails(env.ready(), 'CONNECT_FAILED')
    const pid = Number(await readOwn(dir.at('pid')))
    assert.ok(!isAlive(pid))
    await env.close()
  })
})

async function readOwn(path: string): Promise<string> {
  using dir = scratch()
  await using here = local({ cwd: dir.path, runtime: { executable: WALDO, stateDir: dir.at('state') } })
  return await here.files.readText(path)
}
