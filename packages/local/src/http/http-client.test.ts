import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { Deadline } from './deadline.ts'
import { fails, get, rawServer, readAll, reply, testClient } from './fixtures/servers.ts'

describe('a request', () => {
  test('says what it was told to say, in that order, and little more', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    using client = testClient()
    const headers = [
      { name: 'X-B', value: 'one' },
      { name: 'x-a', value: '' },
      { name: 'X-B', value: 'zwölf\t13' },
      { name: 'Connection', value: 'keep-alive' },
      { name: 'TE', value: 'trailers' },
    ]
    const response = await client.request(get(`${server.url}/a%20b/../c d?q=ä&r=1#fragment`, { headers }))
    assert.equal(await readAll(response), 'hi')
    assert.deepEqual(Buffer.from(server.requests[0]!.text, 'latin1').toString().split('\r\n'), [
      'GET /c%20d?q=%C3%A4&r=1 HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'X-B: one',
      'x-a: ',
      'X-B: zwölf\t13',
      'accept: */*',
      '',
      '',
    ])
  })

  test('leaves out what the caller gives itself', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('')))
    using client = testClient()
    const headers = [
      { name: 'Accept', value: 'text/plain' },
      { name: 'Content-Length', value: '3' },
      { name: 'Host', value: 'other' },
      { name: 'Authorization', value: 'x' },
      { name: 'Connection', value: 'close' },
    ]
    const url = `http://user:pass@127.0.0.1:${server.port}/`
    await readAll(await client.request(get(url, { method: 'PUT', headers, body: Buffer.from('abc') })))
    assert.equal(
      server.requests[0]!.text,
      'PUT / HTTP/1.1\r\nAccept: text/plain\r\nContent-Length: 3\r\nHost: other\r\nAuthorization: x\r\n' +
        'Connection: close\r\n\r\nabc',
    )
  })

  test('gives the length of its body, also of none where one is expected', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('')))
    using client = testClient()
    for (const [method, body] of [
      ['POST', 'x'.repeat(100_000)],
      ['POST', undefined],
      ['PATCH', undefined],
      ['DELETE', undefined],
      ['GET', 'with a body'],
      ['M-SEARCH', ''],
    ] as const) {
      const bytes = body === undefined ? undefined : Buffer.from(body)
      await readAll(await client.request(get(server.url, { method, body: bytes })))
    }
    const sent = server.requests.map(({ text }) => /content-length: \d+/.exec(text)?.[0])
    const length = (bytes: number) => `content-length: ${bytes}`
    assert.deepEqual(sent, [length(100_000), length(0), length(0), undefined, length(11), length(0)])
    assert.ok(server.requests[0]!.text.endsWith('x'.repeat(100_000)))
  })

  test('turns userinfo into a header, and shows it nowhere', async () => {
    await using server = await rawServer(({ socket }) => socket.end('nonsense\r\n'))
    using client = testClient()
    const url = `http://us%C3%A9r:p%40ss%@127.0.0.1:${server.port}/?q=1`
    const expected = new RegExp(
      `^error sending request for url \\(http://127.0.0.1:${server.port}/\\?q=1\\): the response`,
    )
    await assert.rejects(client.request(get(url)), fails('HTTP_FAILED', expected))
    const sent = /authorization: Basic (\S+)/.exec(server.requests[0]!.text)![1]!
    assert.equal(Buffer.from(sent, 'base64').toString(), 'usér:p@ss%')
  })

  test('that makes no sense is refused before anybody is dialled', async () => {
    using client = testClient()
    const header = (name: string, value: string) => ({ headers: [{ name, value }] })
    const url = 'http://127.0.0.1:1/'
    for (const [request, message] of [
      [get(url, { method: 'GE T' }), 'method is invalid: invalid HTTP method'],
      [get(url, { method: '' }), 'method is invalid: invalid HTTP method'],
      [get(url, { method: 'GET / HTTP/1.1\r\nx:' }), 'method is invalid: invalid HTTP method'],
      [get(url, { method: 'CONNECT' }), 'method is invalid: the executor does not open tunnels'],
      [get('/relative'), 'url is invalid: relative URL without a base'],
      [get('example.com'), 'url is invalid: relative URL without a base'],
      [get('http://'), 'url is invalid: it has no valid host or port'],
      [get('http://a:99999/'), 'url is invalid: it has no valid host or port'],
      [get('http://[fe80::1%25eth0]/'), 'url is invalid: it has no valid host or port'],
      [get('ftp://example.com/'), 'only supports http and https URLs, got ftp'],
      [get('file:///etc/passwd'), 'only supports http and https URLs, got file'],
      [get(url, header('a b', 'x')), 'header name is invalid: invalid HTTP header name'],
      [get(url, header('', 'x')), 'header name is invalid: invalid HTTP header name'],
      [get(url, header('x:', 'x')), 'header name is invalid: invalid HTTP header name'],
      [get(url, header('x', 'a\r\nb: c')), 'header value is invalid for x: failed to parse header value'],
      [get(url, header('x', 'a\nb')), 'header value is invalid for x: failed to parse header value'],
      [get(url, header('x', 'a\0')), 'header value is invalid for x: failed to parse header value'],
      [get(url, header('x', '\x7f')), 'header value is invalid for x: failed to parse header value'],
      [get(url, header('x', '\ud800')), 'header value is invalid for x: failed to parse header value'],
      [get(url, header('Upgrade', 'h2c')), 'header Upgrade is not supported: the executor cannot switch protocols'],
      [
        get(url, header('Transfer-Encoding', 'chunked')),
        'header Transfer-Encoding is not supported: the executor sends bodies with their length',
      ],
      [get(url, header('content-length', '5')), 'header content-length says 5, but the body has 0 bytes'],
      [get(url, { headers: [...header('host', 'a').headers, ...header('Host', 'b').headers] }), /more than once/],
      [get(url, header('x', 'y'.repeat(65_536))), /head is too large: 655\d\d bytes/],
      [get(`${url}${'y'.repeat(65_536)}`), /head is too large/],
    ] as const) {
      await assert.rejects(client.request(request), fails('HTTP_INVALID', message))
    }
  })
})

describe('a response', () => {
  test('of an ordinary server comes with all its headers, in chunks or not', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Set-Cookie', ['a=1', 'b=2'])
      response.writeHead(418)
      response.write('first ')
      response.end('second')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    using client = testClient()
    const response = await client.request(get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
    assert.equal(response.status, 418)
    const cookies = response.headers.filter(({ name }) => name === 'set-cookie')
    assert.deepEqual(
      cookies.map(({ value }) => value),
      ['a=1', 'b=2'],
    )
    assert.equal(await readAll(response), 'first second')
    assert.equal(await response.read(), undefined)
    server.closeAllConnections()
    server.close()
  })

  test('is not decoded', async () => {
    const zipped = Buffer.from(Bun.gzipSync(Buffer.from('text'))).toString('latin1')
    await using server = await rawServer(({ socket }) =>
      socket.write(reply(zipped, { headers: ['content-encoding: gzip'] }), 'latin1'),
    )
    using client = testClient()
    assert.equal(await readAll(await client.request(get(server.url))), zipped)
  })

  test('is delivered piece by piece, as the pieces come', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
    await using server = await rawServer(({ socket }) => socket.write(head))
    using client = testClient()
    const response = await client.request(get(server.url))
    for (let i = 0; i < 10; i++) {
      const data = `data: ${i}\n\n`
      server.requests[0]!.socket.write(`${data.length.toString(16)}\r\n${data}\r\n`)
      assert.equal(String(await response.read()), data)
    }
    server.requests[0]!.socket.write('0\r\n\r\n')
    assert.equal(await response.read(), undefined)
  })

  test('that is cut, or no response, says so', async () => {
    const ok = 'HTTP/1.1 200 OK\r\n'
    for (const [bytes, message] of [
      ['', /^error sending request for url \(.*\): the connection was closed before the response was complete$/],
      [
        'HTTP/1.1 2',
        /^error sending request for url \(.*\): the connection was closed before the response was complete$/,
      ],
      [
        'SSH-2.0-x\r\n',
        /^error sending request for url \(.*\): the response is malformed: it does not begin like one: "SSH/,
      ],
      [`${ok}content-length: 5\r\n\r\nabc`, /^error decoding response body: .*, 2 bytes are missing$/],
      [
        `${ok}transfer-encoding: chunked\r\n\r\n5\r\nabc`,
        /^error decoding response body: .* in the middle of the body$/,
      ],
      [`${ok}transfer-encoding: chunked\r\n\r\nnonsense\r\n`, /^error decoding response body: .* no valid size/],
    ] as const) {
      await using server = await rawServer(({ socket }) => socket.end(bytes))
      using client = testClient()
      const all = client.request(get(server.url)).then(readAll)
      await assert.rejects(all, fails('HTTP_FAILED', message))
    }
  })

  test('that is cut is read as far as it came', async () => {
    await using server = await rawServer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'))
    using client = testClient()
    const response = await client.request(get(server.url))
    assert.equal(String(await response.read()), 'abc')
    for (let i = 0; i < 2; i++) await assert.rejects(response.read(), fails('HTTP_FAILED', /2 bytes are missing/))
  })
})

test('there are no more than 512 requests at the same time', async () => {
  await using server = await rawServer(() => {})
  using client = testClient({ lookup: () => new Promise(() => {}) })
  const deadlines = Array.from({ length: 512 }, () => new Deadline())
  const all = deadlines.map((deadline) => client.request(get('http://a.example'), deadline))
  await assert.rejects(client.request(get(server.url)), fails('HTTP_FAILED', /512 requests are under way/))
  for (const deadline of deadlines) deadline.abort(new Error('cancelled'))
  for (const { status } of await Promise.allSettled(all)) assert.equal(status, 'rejected')
})
