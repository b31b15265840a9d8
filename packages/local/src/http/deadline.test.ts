import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Deadline } from './deadline.ts'
import { descriptors, fails, get, rawServer, readAll, reply, testClient, turn, until } from './fixtures/servers.ts'

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
    await assert.rejects(client.request(get(server.url), new Deadline(50)), late(server.url, 50))
    await assert.rejects(client.request(get(server.url), new Deadline(0)), late(server.url, 0))
    await assert.rejects(client.request(get(circle.url), new Deadline(150)), late(circle.url, 150))
    await assert.rejects(client.request(get('http://a.example'), new Deadline(50)), late('http://a.example', 50))
    const response = await client.request(get(slow.url), new Deadline(100))
    assert.equal(String(await response.read()), 'hello')
    const body = fails('HTTP_FAILED', 'error decoding response body: timed out after 100 ms')
    await assert.rejects(response.read(), body)
    for (const each of [server, slow]) await until(() => each.connections.size === 0)
  })

  test('not because of a time limit that is longer than timers can count', async () => {
    await using server = await rawServer(({ socket }) => setTimeout(() => socket.write(reply('hi')), 20))
    using client = testClient()
    const deadline = new Deadline(Number.MAX_SAFE_INTEGER)
    assert.equal(await readAll(await client.request(get(server.url), deadline)), 'hi')
  })

  test('when the caller cancels it, in whatever phase it is', async () => {
    await using server = await silent()
    await using slow = await partial()
    using client = testClient({ lookup: () => new Promise(() => {}) })
    const before = descriptors()
    const aborted = new Deadline()
    aborted.abort(new Error('cancelled'))
    const cancelled = fails('HTTP_FAILED', /^error sending request for url \(.*\): cancelled$/)
    await assert.rejects(client.request(get(server.url), aborted), cancelled)
    assert.equal(server.accepted(), 0)
    for (const phase of ['lookup', 'connect', 'upload', 'head'] as const) {
      const deadline = new Deadline()
      const body = phase === 'upload' ? Buffer.alloc(64 * 1024 * 1024) : undefined
      const url = phase === 'lookup' ? 'http://a.example/' : server.url
      const seen = server.requests.length
      const request = client.request(get(url, { method: 'POST', body }), deadline)
      if (phase === 'upload') await until(() => server.connections.size > 0)
      if (phase === 'head') await until(() => server.requests.length > seen)
      deadline.abort(new Error('cancelled'))
      await assert.rejects(request, cancelled, phase)
      await until(() => server.connections.size === 0)
    }
    const deadline = new Deadline()
    const response = await client.request(get(slow.url), deadline)
    await response.read()
    const pending = response.read()
    deadline.abort(new Error('cancelled'))
    await assert.rejects(pending, fails('HTTP_FAILED', 'error decoding response body: cancelled'))
    await until(() => slow.connections.size === 0 && descriptors() <= before)
  })

  test('when nobody wants the rest of the body', async () => {
    await using server = await partial()
    using client = testClient()
    const unread = await client.request(get(server.url))
    unread.cancel()
    unread.cancel()
    await assert.rejects(unread.read(), fails('HTTP_FAILED', 'error decoding response body: cancelled'))
    const reading = await client.request(get(server.url))
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
    const deadline = new Deadline()
    const response = await client.request(get(server.url), deadline)
    await turn()
    deadline.abort(new Error('cancelled'))
    assert.equal(await readAll(response), 'complete')
    response.cancel()
    assert.equal(await readAll(await client.request(get(server.url))), 'complete')
    assert.equal(server.accepted(), 1)
  })

  test('when the client is closed', async () => {
    await using server = await partial()
    await using other = await silent()
    using client = testClient()
    const response = await client.request(get(server.url))
    const request = client.request(get(other.url))
    await until(() => other.requests.length === 1)
    client.close()
    await assert.rejects(request, fails('HTTP_FAILED', /: the executor is shutting down$/))
    await assert.rejects(response.read(), fails('HTTP_FAILED', /: the executor is shutting down$/))
    await assert.rejects(client.request(get(server.url)), fails('HTTP_FAILED', /shutting down/))
    await until(() => server.connections.size === 0 && other.connections.size === 0)
  })
})
