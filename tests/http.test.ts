import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, memoryOf, RawClient, startServer, type TestServer } from '@waldo/testkit'

const MiB = 1024 * 1024
let server: TestServer
let client: RawClient
let origin: Bun.Server<unknown>
let cancelled = 0
let produced = 0

before(async () => {
  server = await startServer({ env: { SECRET_HEADER: 's3cret' } })
  client = await RawClient.connect(server.url)
  origin = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: respond })
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await origin.stop(true)
})

function respond(request: Request): Response {
  const url = new URL(request.url)
  switch (url.pathname) {
    case '/bytes':
      return new Response(Buffer.alloc(Number(url.searchParams.get('n')), 'x'))
    case '/endless': {
      const piece = Buffer.alloc(64 * 1024, 'y')
      const body = new ReadableStream({
        async pull(controller) {
          produced += piece.length
          controller.enqueue(piece)
          await Bun.sleep(0)
        },
        cancel() {
          cancelled++
        },
      })
      return new Response(body)
    }
    case '/events': {
      const body = async function* () {
        yield 'data: first\n\n'
        await Bun.sleep(100)
        yield 'data: second\n\n'
        request.signal.addEventListener('abort', () => cancelled++)
        await Bun.sleep(60_000)
      }
      return new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
    }
    default:
      return new Response(`${request.method} ${request.headers.get('x-secret') ?? ''}`, {
        headers: [
          ['x-b', '1'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      })
  }
}

const url = (path: string) => `http://127.0.0.1:${origin.port}${path}`
let nextId = 0
const request = (path: string, more = {}) => ({ requestId: `r${++nextId}`, method: 'GET', url: url(path), ...more })
const deltas = (requestId: string, of = client) =>
  of.notifications.filter(({ params }) => params.requestId === requestId).map(({ params }) => params)
const text = (requestId: string) =>
  deltas(requestId)
    .map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64').toString())
    .join('')

describe('http/request', () => {
  test('repeated headers stay apart, and a header may come from the executor’s environment', async () => {
    const headers = [{ name: 'x-secret', value: 'is ', valueEnvVar: 'SECRET_HEADER' }]
    const answer = await client.call('http/request', request('/', { headers }))
    assert.equal(Buffer.from(answer.bodyBase64, 'base64').toString(), 'GET is s3cret')
    const cookies = answer.headers.filter(({ name }: { name: string }) => name === 'set-cookie')
    assert.deepEqual(
      cookies.map(({ value }: { value: string }) => value),
      ['a=1', 'b=2'],
    )
    for (const [valueEnvVar, code] of [
      ['NOT_THERE', -32602],
      ['AWS_SECRET_ACCESS_KEY', -32602],
    ]) {
      const bad = request('/', { headers: [{ name: 'x', value: '', valueEnvVar }] })
      assert.equal((await client.failure('http/request', bad)).code, code)
    }
  })

  test('what makes no sense is an error of the request', async () => {
    for (const bad of [
      { method: 'BAD METHOD' },
      { url: '/relative' },
      { url: 'ftp://127.0.0.1/' },
      { headers: [{ name: 'a b', value: '' }] },
      { headers: [{ name: 'x', value: 'a\r\nb: c' }] },
    ]) {
      const { code, message } = await client.failure('http/request', request('/', bad))
      assert.equal(code, -32602, JSON.stringify(bad))
      assert.match(message, /^http\/request /)
    }
  })

  test('a body of 40 MB comes whole; one that no answer can hold is refused with the way to go', async () => {
    const large = await client.call('http/request', request('/bytes?n=40000000'))
    assert.equal(Buffer.from(large.bodyBase64, 'base64').length, 40_000_000)
    const { code, message } = await client.failure('http/request', request('/bytes?n=60000000'))
    assert.deepEqual([code, /streamResponse/.test(message)], [-32603, true])
  })

  test('streamed bodies come in order, in pieces that every client takes, and end', async () => {
    const asked = request('/bytes?n=20000000', { streamResponse: true })
    const answer = await client.call('http/request', asked)
    assert.deepEqual([answer.status, answer.bodyBase64], [200, ''])
    await client.until(() => deltas(asked.requestId).at(-1)?.done === true, 'the end')
    const all = deltas(asked.requestId)
    assert.deepEqual(
      all.map(({ seq }) => seq),
      all.map((_, index) => index + 1),
    )
    const sizes = all.map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64').length)
    assert.ok(sizes.every((size) => size <= MiB))
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      20_000_000,
    )
    assert.deepEqual([all.at(-1).deltaBase64, all.at(-1).error], ['', null])
  })

  test('events arrive when they are sent, and http/cancel ends the stream', async () => {
    const asked = request('/events', { streamResponse: true })
    await client.call('http/request', asked)
    await client.until(() => text(asked.requestId).includes('second'), 'the second event')
    const before = cancelled
    assert.deepEqual(await client.call('http/cancel', { requestId: asked.requestId }), { cancelled: true })
    await client.until(() => deltas(asked.requestId).at(-1)?.done === true, 'the end')
    assert.match(deltas(asked.requestId).at(-1).error, /cancelled/)
    await eventually(() => cancelled > before, 'the origin to notice')
    assert.deepEqual(await client.call('http/cancel', { requestId: asked.requestId }), { cancelled: false })
    const slow = request('/endless')
    const buffered = client.failure('http/request', slow)
    await client.call('http/cancel', { requestId: slow.requestId })
    assert.equal((await buffered).code, -32603)
  })

  test('a client that does not read stops the download, and a cut connection ends it', async () => {
    const silent = await RawClient.connect(server.url)
    const start = memoryOf(server.pid)
    silent.pauseReading()
    produced = 0
    silent.send(
      JSON.stringify({ id: 99, method: 'http/request', params: request('/endless', { streamResponse: true }) }),
    )
    await eventually(() => produced > 0, 'the download to start')
    let [last, quiet] = [0, 0]
    const stopped = () => {
      quiet = produced === last ? quiet + 1 : 0
      last = produced
      return quiet > 50
    }
    await eventually(stopped, 'sockets and windows to be full', 20_000)
    assert.ok(produced < 64 * MiB, `${produced} bytes`)
    assert.ok(memoryOf(server.pid) - start < 48, 'the server keeps little of it')
    const before = cancelled
    silent.drop()
    await eventually(() => cancelled > before, 'the origin to notice')
  })
})

describe('what http/request may reach', () => {
  const failure = async (args: string[], target: string) => {
    await using own = await startServer({ args })
    await using other = await RawClient.connect(own.url)
    return await other.failure('http/request', { requestId: 'r', method: 'GET', url: target })
  }

  test('not the addresses behind which machines keep their secrets', async () => {
    for (const target of ['http://169.254.169.254/', 'http://[fe80::1]/', 'http://2852039166/']) {
      const { code, message } = await client.failure('http/request', { requestId: 'r', method: 'GET', url: target })
      assert.deepEqual([code, /--http-allow/.test(message)], [-32600, true], target)
    }
  })

  test('not this machine, if clients come from elsewhere', async () => {
    const args = ['--listen', 'ws://0.0.0.0:0', '--insecure']
    const { code, message } = await failure(args, url('/'))
    assert.deepEqual([code, /own machine/.test(message)], [-32600, true])
    await using own = await startServer({ args: [...args, '--http-allow', `127.0.0.1:${origin.port}`] })
    await using other = await RawClient.connect(own.url.replace('0.0.0.0', '127.0.0.1'))
    assert.equal((await other.call('http/request', request('/'))).status, 200)
  })

  test('nothing with --http deny, but for exceptions', async () => {
    assert.equal((await failure(['--http', 'deny'], url('/'))).code, -32600)
    await using own = await startServer({ args: ['--http', 'deny', '--http-allow', '127.0.0.1'] })
    await using other = await RawClient.connect(own.url)
    assert.equal((await other.call('http/request', request('/'))).status, 200)
  })

  test('a list that makes no sense is refused at the start', async () => {
    await assert.rejects(startServer({ args: ['--http-allow', 'http://example.com'] }), /--http-allow.*it is a URL/)
    await assert.rejects(startServer({ args: ['--http', 'maybe'] }), /expected allow or deny/)
  })
})
