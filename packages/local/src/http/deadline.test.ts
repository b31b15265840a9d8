import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  descriptors,
  fails,
  get,
  never,
  rawServer,
  readAll,
  reply,
  testClient,
  turn,
  until,
} from './fixtures/servers.ts'

describe('a request ends early', () => {
  const silent = () => rawServer(() => {})
  const partial = () => rawServer(({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'))

  test('when its time is over, in whatever phase it is', async () => {
    await using server = await silent()
    await using slow = await partial()
    await using circle = await rawServer(({ socket }) => {
      setTimeout(() => socket.write(reply('', { status: 302, headers: ['location: /'] })), 30)
    })
    using client = testClient({ lookup: () => new Promise(() => {}) })
    const late = (url: string, timeoutMs: number) =>
      fails('HTTP_FAILED', `error sending request for url (${url}/): timed out after ${timeoutMs} ms`)
    await assert.rejects(client.request(get(server.url, { timeoutMs: 50 }), never), late(server.url, 50))
    await assert.rejects(client.request(get(server.url, { timeoutMs: 0 }), never), late(server.url, 0))
    await assert.rejects(client.request(get(circle.url, { timeoutMs: 150 }), never), late(circle.url, 150))
    await assert.rejects(
      client.request(get('http://a.example', { timeoutMs: 50 }), never),
      late('http://a.example', 50),
    )
    const response = await client.request(get(slow.url, { timeoutMs: 100 }), never)
    assert.equal(String(await response.read()), 'hello')
    const body = fails('HTTP_FAILED', 'error decoding response body: timed out after 100 ms')
    await assert.rejects(response.read(), body)
    for (const each of [server, slow]) await until(() => each.connections.size === 0)
  })

  test('not because of a time limit that is longer than timers can count', async () => {
    await using server = await rawServer(({ socket }) => setTimeout(() => socket.write(reply('hi')), 20))
    using client = testClient()
    const request = get(server.url, { timeoutMs: Number.MAX_SAFE_INTEGER })
    assert.equal(await readAll(await client.request(request, never)), 'hi')
  })

  test('when the caller cancels it, in whatever phase it is', async () => {
    await using server = await silent()
    await using slow = await partial()
    using client = testClient({ lookup: () => new Promise(() => {}) })
    const before = descriptors()
    const cancelled = fails('HTTP_FAILED', /^error sending request for url \(.*\): cancelled$/)
    await assert.rejects(client.request(get(server.url), AbortSignal.abort()), cancelled)
    assert.equal(server.accepted(), 0)
    for (const phase of ['lookup', 'connect', 'upload', 'head'] as const) {
      const controller = new AbortController()
      const body = phase === 'upload' ? Buffer.alloc(64 * 1024 * 1024) : undefined
      const url = phase === 'lookup' ? 'http://a.example/' : server.url
      const seen = server.requests.length
      const request = client.request(get(url, { method: 'POST', body }), controller.signal)
      if (phase === 'upload') await until(() => server.connections.size > 0)
      if (phase === 'head') await until(() => server.requests.length > seen)
      controller.abort()
      await assert.rejects(request, cancelled, phase)
      await until(() => server.connections.size === 0)
    }
    const controller = new AbortController()
    const response = await client.request(get(slow.url), controller.signal)
    await response.read()
    const pending = response.read()
    controller.abort()
    await assert.rejects(pending, fails('HTTP_FAILED', 'error decoding response body: cancelled'))
    await until(() => slow.connections.size === 0 && descriptors() <= before)
  })

  test('when nobody wants the rest of the body', async () => {
    await using server = await partial()
    using client = testClient()
    const unread = await client.request(get(server.url), never)
    unread.cancel()
    unread.cancel()
    await assert.rejects(unread.read(), fails('HTTP_FAILED', 'error decoding response body: cancelled'))
    const reading = await client.request(get(server.url), never)
    await reading.read()
    const pending = reading.read()
    reading.cancel()
    await assert.rejects(pending, fails('HTTP_FAILED', 'error decoding response body: cancelled'))
    await until(() => server.connections.size === 0)
    assert.equal(server.accepted(), 2)
  })

  test('not after its body has come, even if nobody has read it', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('complete')))
    using client = testClient()
    const controller = new AbortController()
    const response = await client.request(get(server.url), controller.signal)
    await turn()
    controller.abort()
    assert.equal(await readAll(response), 'complete')
    response.cancel()
    assert.equal(await readAll(await client.request(get(server.url), never)), 'complete')
    assert.equal(server.accepted(), 1)
  })

  test('when the client is closed', async () => {
    await using server = await partial()
    await using other = await silent()
    using client = testClient()
    const response = await client.request(get(server.url), never)
    const request = client.request(get(other.url), never)
    await until(() => other.requests.length === 1)
    client.close()
    await assert.rejects(request, fails('HTTP_FAILED', /: the executor is shutting down$/))
    await assert.rejects(response.read(), fails('HTTP_FAILED', /: the executor is shutting down$/))
    await assert.rejects(client.request(get(server.url), never), fails('HTTP_FAILED', /shutting down/))
    await until(() => server.connections.size === 0 && other.connections.size === 0)
  })
})
