import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import {
  certificate,
  descriptors,
  fails,
  get,
  type RawServer,
  rawServer,
  readAll,
  reply,
  testClient,
  until,
} from './fixtures/servers.ts'

describe('a connection', () => {
  test('serves one request after the other, and leaves nothing behind', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('x'.repeat(1024))))
    using client = testClient()
    await readAll(await client.request(get(server.url)))
    const before = descriptors()
    for (let i = 0; i < 1000; i++) {
      assert.equal((await readAll(await client.request(get(server.url)))).length, 1024)
    }
    assert.equal(descriptors(), before)
    assert.equal(server.accepted(), 1)
  })

  test('that serves only once leaves nothing behind either', async () => {
    for (const tls of [false, true]) {
      await using server = await rawServer(
        ({ socket }) => socket.end(reply('hi', { headers: ['connection: close'] })),
        {
          tls,
        },
      )
      using client = testClient({ ca: certificate })
      const before = descriptors()
      for (let i = 0; i < 200; i++) assert.equal(await readAll(await client.request(get(server.url))), 'hi')
      assert.equal(server.accepted(), 200)
      await until(() => descriptors() <= before)
    }
  })

  test('is made for each of 200 requests at the same time, and 32 are kept', async () => {
    const waiting: Socket[] = []
    await using server = await rawServer(({ socket }) => {
      waiting.push(socket)
      if (waiting.length < 200) return
      for (const each of waiting) each.write(reply('all'))
    })
    using client = testClient()
    const before = descriptors()
    const all = await Promise.all(
      Array.from({ length: 200 }, async () => readAll(await client.request(get(server.url)))),
    )
    assert.deepEqual(new Set(all), new Set(['all']))
    assert.equal(server.accepted(), 200)
    await until(() => server.connections.size === 32)
    client.close()
    await until(() => server.connections.size === 0 && descriptors() <= before)
  })

  test('is kept for many servers, but not for all that there are', async () => {
    await using stack = new AsyncDisposableStack()
    using client = testClient()
    const servers: RawServer[] = []
    for (let i = 0; i < 3; i++) servers.push(stack.use(await rawServer(({ socket }) => socket.write(reply('hi')))))
    for (const server of servers) {
      const responses = Array.from({ length: 32 }, () => client.request(get(server.url)))
      for (const response of await Promise.all(responses)) await readAll(response)
    }
    const kept = () => servers.map(({ connections }) => connections.size)
    await until(() => kept().reduce((sum, count) => sum + count) === 64)
    assert.deepEqual(kept(), [0, 32, 32])
  })

  test('is not used again when the server says so, or says too much', async () => {
    for (const answer of [
      reply('hi', { headers: ['connection: close'] }),
      `${reply('hi')}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
      reply('hi').replace('1.1', '1.0'),
      reply('hi', { headers: ['keep-alive: timeout=1'] }),
    ]) {
      await using server = await rawServer(({ socket }) => socket.write(answer))
      using client = testClient()
      for (let i = 0; i < 2; i++) assert.equal(await readAll(await client.request(get(server.url))), 'hi')
      assert.equal(server.accepted(), 2)
    }
  })

  test('on which a response comes that nobody asked for is not used', async () => {
    await using server = await rawServer(({ socket, nth }) => socket.write(reply(`${nth}`)))
    using client = testClient()
    assert.equal(await readAll(await client.request(get(server.url))), '1')
    const [first] = server.requests
    first!.socket.write(reply('evil'))
    await until(() => first!.socket.destroyed)
    assert.equal(await readAll(await client.request(get(server.url))), '2')
    assert.equal(server.accepted(), 2)
  })

  test('that the server closes at the wrong moment is replaced, if that does no harm', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'POST', 'PATCH']) {
      await using server = await rawServer(({ socket, connection, nth }) => {
        if (connection === 1 && nth > 1) socket.destroy()
        else socket.write(reply(method === 'HEAD' ? '' : `connection ${connection}`))
      })
      using client = testClient()
      await readAll(await client.request(get(server.url)))
      const again = client.request(get(server.url, { method })).then(readAll)
      if (method === 'POST' || method === 'PATCH') {
        await assert.rejects(again, fails('HTTP_FAILED', /^error sending request for url .* closed/))
        assert.equal(server.requests.length, 2)
      } else {
        assert.equal(await again, method === 'HEAD' ? '' : 'connection 2')
        assert.equal(server.requests.length, 3)
      }
    }
  })

  test('that is new and fails is not tried again', async () => {
    await using server = await rawServer(({ socket }) => socket.destroy())
    using client = testClient()
    await assert.rejects(client.request(get(server.url)), fails('HTTP_FAILED', /closed|reset/))
    assert.equal(server.requests.length, 1)
  })

  test('is not used again before the server has read the whole request', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024)
    await using server = await rawServer(() => {})
    using client = testClient()
    const answered = client.request(get(server.url, { method: 'POST', body }))
    await until(() => server.connections.size === 1)
    const [socket] = server.connections
    socket!.pause()
    socket!.write(reply('too large', { status: 413 }))
    const response = await answered
    assert.equal(response.status, 413)
    assert.equal(await readAll(response), 'too large')
    socket!.resume()
    await until(() => socket!.destroyed)
  })

  test('that is idle does not keep the process alive', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    const script = `
      import { get, readAll, testClient } from ${JSON.stringify(`${import.meta.dir}/fixtures/servers.ts`)}
      const client = testClient()
      process.stdout.write(await readAll(await client.request(get(${JSON.stringify(server.url)}))))`
    await using child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
    assert.equal(await new Response(child.stdout).text(), 'hi')
    assert.equal(await child.exited, 0)
    assert.equal(server.accepted(), 1)
  })
})
