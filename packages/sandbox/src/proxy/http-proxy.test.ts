import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { curl, LOCAL_TEST, origin, RawClient, response, say, sockets, testProxy, until } from './fixtures/proxy.ts'

const fixture = (name: string) =>
  readFileSync(`${import.meta.dir}/../../../../tests/fixtures/localhost.${name}.pem`, 'utf8')

describe('a request over HTTP', () => {
  test('reaches a host that is allowed, with the header of that host and without what was for the proxy', async () => {
    await using server = await origin(response('hello', ['Set-Cookie: a=b', 'Keep-Alive: timeout=5']))
    await using proxy = await testProxy()
    const headers = ['Host: denied.test', 'Proxy-Authorization: Basic eDp5', 'X-Mine: 1', 'X-Hop: 2']
    const { stdout } = await curl(
      ...['-x', proxy.url, '-i', ...headers.flatMap((header) => ['-H', header])],
      ...['-H', 'Connection: x-hop', `http://Allowed.TEST.:${server.port}/a%20b?c=d#e`],
    )
    assert.match(stdout, /^HTTP\/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello$/)
    const [head] = server.received
    assert.match(head!, new RegExp(`^GET /a%20b\\?c=d HTTP/1.1\r\nhost: allowed.test:${server.port}\r\n`))
    assert.match(head!, /\r\nx-mine: 1\r\n/)
    assert.doesNotMatch(head!, /proxy-|x-hop|denied/i)
    assert.match(head!, /\r\nconnection: close\r\n\r\n$/)
    const [{ timestamp, client, ...decision }, ...others] = proxy.decisions as [(typeof proxy.decisions)[number]]
    assert.deepEqual(
      [decision, others],
      [
        {
          scope: 'domain',
          decision: 'allow',
          source: 'baseline_policy',
          reason: 'allow',
          protocol: 'http',
          host: 'allowed.test',
          port: server.port,
          method: 'GET',
          policyOverride: false,
        },
        [],
      ],
    )
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.match(client!, /^127\.0\.0\.1:\d+$/)
  })

  test('to a host that is denied is answered with 403 and the reason, also when it has a body', async () => {
    await using proxy = await testProxy()
    for (const body of [[], ['--data-binary', 'x'.repeat(100_000)], ['-F', `file=@${process.execPath}`]]) {
      const { stdout, code } = await curl('-x', proxy.url, '-i', ...body, 'http://denied.test/')
      assert.equal(code, 0)
      assert.match(stdout, /HTTP\/1.1 403 Forbidden\r\nx-proxy-error: blocked-by-denylist\r\n/)
      assert.match(stdout, /Waldo has blocked (GET|POST) denied.test:80: .*must not reach \(denied\)\n$/)
    }
    assert.deepEqual(
      proxy.proxy.blocked().map(({ host, reason, method }) => [host, reason, method]),
      [
        ['denied.test', 'denied', 'GET'],
        ['denied.test', 'denied', 'POST'],
        ['denied.test', 'denied', 'POST'],
      ],
    )
    assert.deepEqual(proxy.lookups, [])
  })

  test('may have a body of any length, with and without a size', async () => {
    const fetch = async (request: Request) => {
      const { byteLength } = await request.arrayBuffer()
      return new Response(`${byteLength} ${request.headers.get('transfer-encoding')}`)
    }
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
    await using proxy = await testProxy()
    for (const size of [0, 10, 3_000_000]) {
      for (const [field, framing] of [[], ['Transfer-Encoding: chunked', 'chunked']] as const) {
        const args = ['-X', 'POST', '--data-binary', '@-', '-H', field ?? 'X-Some: field']
        const url = `http://allowed.test:${server.port}/`
        const child = Bun.spawn(['curl', '-sS', '-m', '20', '-x', proxy.url, ...args, url], {
          stdio: [new Blob(['x'.repeat(size)]), 'pipe', 'inherit'],
        })
        assert.equal(await new Response(child.stdout).text(), `${size} ${framing ?? null}`)
      }
    }
    await server.stop(true)
  })

  test('passes interim answers and chunks on, and answers without a length as they come', async () => {
    const answers = [
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
      'HTTP/1.0 200 OK\n\nhello',
      'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\nhello',
    ]
    for (const answer of answers) {
      await using server = await origin(answer)
      await using proxy = await testProxy()
      const { stdout } = await curl(
        '-x',
        proxy.url,
        '-H',
        'Expect: 100-continue',
        `http://allowed.test:${server.port}/`,
      )
      assert.equal(stdout, 'hello')
    }
  })

  test('comes out at the pace of who reads it', async () => {
    const piece = Buffer.alloc(1 << 20, 'y')
    let written = 0
    await using server = await origin((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        while (written < 64) {
          written++
          if (!socket.write(piece)) return
        }
        socket.end()
      }
      socket.on('drain', more)
      more()
    })
    await using proxy = await testProxy()
    using client = new RawClient(proxy.port)
    client.socket.write(`GET http://allowed.test:${server.port}/ HTTP/1.1\r\n\r\n`)
    await client.bytes(1)
    client.socket.pause()
    // The system's own buffers are some megabytes; whoever takes more takes all.
    let before = -1
    while (written !== before) {
      before = written
      await Bun.sleep(200)
    }
    assert.ok(written < 60, `${written} MB were taken`)
    client.socket.resume()
    const all = await client.rest()
    assert.equal(all.length - all.indexOf('\r\n\r\n') - 4, 64 << 20)
  })

  test('that could be understood in two ways is refused, and nothing of it reaches a server', async () => {
    await using server = await origin(response('reached'))
    await using proxy = await testProxy()
    const target = `http://allowed.test:${server.port}/`
    const line = `POST ${target} HTTP/1.1\r\n`
    const requests = [
      `${line}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${line}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
      `${line}Content-Length: 3, 3\r\n\r\nabc`,
      `${line}Content-Length: +3\r\n\r\nabc`,
      `${line}Content-Length: 0x3\r\n\r\nabc`,
      `${line}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      `${line}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${line}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      `${line}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`,
      `POST ${target} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${line}X: a\r\n b\r\n\r\n`,
      `${line}X: a\nY: b\r\n\r\n`,
      `${line}X: a\rY: b\r\n\r\n`,
      `${line}X: a\0b\r\n\r\n`,
      `${line}no colon\r\n\r\n`,
      `${line}: empty\r\n\r\n`,
      // Takes seconds where blanks are looked at from both ends.
      `${line}X:${' '.repeat(60_000)}\0\r\n\r\n`,
      `POST ${target} HTTP/1.1\nHost: x\r\n\r\n`,
      `POST  ${target} HTTP/1.1\r\n\r\n`,
      `POST ${target}\r\n\r\n`,
      `POST ${target} HTTP/1.1 \r\n\r\n`,
      `\r\n${line}\r\n`,
      `GET / HTTP/1.1\r\nHost: allowed.test:${server.port}\r\n\r\n`,
      `GET https://allowed.test:${server.port}/ HTTP/1.1\r\n\r\n`,
      `GET http://user:pass@allowed.test:${server.port}/ HTTP/1.1\r\n\r\n`,
      `GET http://allowed.test:${server.port}@denied.test/ HTTP/1.1\r\n\r\n`,
      `GET http://allowed.test\\@denied.test/ HTTP/1.1\r\n\r\n`,
      `GET http://allowed.test%00.denied.test/ HTTP/1.1\r\n\r\n`,
      `GET http://allowed.test:0/ HTTP/1.1\r\n\r\n`,
      `GET http://allowed.test:99999/ HTTP/1.1\r\n\r\n`,
      `GET http:///x HTTP/1.1\r\n\r\n`,
      `CONNECT allowed.test HTTP/1.1\r\n\r\n`,
      `CONNECT ${target} HTTP/1.1\r\n\r\n`,
      '\x16\x03\x01\x02\x00',
    ]
    for (const request of requests) {
      const answer = await say(proxy.port, request)
      assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n.*Waldo has not passed on this request: /s, request)
    }
    assert.match(await say(proxy.port, `GET ${target} HTTP/2.0\r\n\r\n`), /^HTTP\/1.1 505 /)
    assert.match(await say(proxy.port, `GET ${target} HTTP/1.1\r\nX: ${'y'.repeat(70_000)}\r\n\r\n`), /^HTTP\/1.1 431 /)
    assert.deepEqual(server.received, [])
    assert.deepEqual(proxy.decisions, [])
  })

  test('with chunks that are none is cut off', async () => {
    await using server = await origin(() => {})
    await using proxy = await testProxy()
    const head = `POST http://allowed.test:${server.port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n`
    const bodies = [
      'x\r\n',
      '3\r\nabcd\r\n0\r\n\r\n',
      '3\nabc\r\n',
      '-1\r\n',
      `1;${'e'.repeat(5000)}`,
      '1;a\rb\r\n',
      ' 3\r\nabc\r\n',
    ]
    for (const body of bodies) {
      assert.match(await say(proxy.port, head + body), /^HTTP\/1.1 400 /, body)
    }
    const trailers = `0\r\n${`X: ${'t'.repeat(3000)}\r\n`.repeat(6)}\r\n`
    assert.match(await say(proxy.port, head + trailers), /^HTTP\/1.1 400 /)
  })

  test('takes no other request along behind its body', async () => {
    await using server = await origin((socket) => setTimeout(() => socket.end(response('one')), 100))
    await using proxy = await testProxy({ ...LOCAL_TEST, mode: 'limited' })
    const second = `POST http://allowed.test:${server.port}/second HTTP/1.1\r\n\r\n`
    const first = (fields: string, body: string) =>
      `GET http://allowed.test:${server.port}/first HTTP/1.1\r\n${fields}\r\n${body}${second}`
    const requests = [
      first('', ''),
      first('Content-Length: 3\r\n', 'abc'),
      first('Transfer-Encoding: chunked\r\n', '3;x="y"\r\nabc\r\n0\r\nTrailer: t\r\n\r\n'),
    ]
    for (const request of requests) {
      const answer = await say(proxy.port, request)
      assert.match(answer, /one$/)
      assert.equal(answer.match(/HTTP\/1.1/g)?.length, 1)
    }
    assert.equal(server.received.length, 3)
    assert.doesNotMatch(server.received.join(), /second|trailer: t|x="y"/i)
    assert.match(server.received[2]!, /\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
  })

  test('that nobody answers is answered by the proxy', async () => {
    await using closing = await origin((socket) => socket.destroy())
    await using broken = await origin('what?\r\n\r\n')
    await using switching = await origin('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n')
    await using blank = await origin(`HTTP/1.1 200 OK\r\nx:${' '.repeat(60_000)}\0\r\n\r\n`)
    await using large = await origin(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`)
    await using proxy = await testProxy(LOCAL_TEST, {
      lookup: async (host) =>
        host === 'allowed.test' ? ['127.0.0.1'] : Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    })
    const status = async (port: number) =>
      (await curl('-x', proxy.url, '-o', '/dev/null', '-w', '%{http_code}', `http://allowed.test:${port}/`)).stdout
    for (const { port } of [closing, broken, switching, blank, large]) assert.equal(await status(port), '502')
    const { stdout } = await curl('-x', proxy.url, 'http://allowed.test:1/')
    assert.equal(stdout, 'Waldo has not reached the host: connection refused\n')
    assert.equal(proxy.decisions.at(-1)?.decision, 'allow')
  })

  test('whose answer breaks off half-way does not look complete', async () => {
    await using unsized = await origin((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nhalf')
      setTimeout(() => socket.resetAndDestroy(), 50)
    })
    await using sized = await origin((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
      setTimeout(() => socket.end(), 50)
    })
    await using proxy = await testProxy()
    const short = await curl('-x', proxy.url, `http://allowed.test:${sized.port}/`)
    assert.deepEqual([short.stdout, short.code], ['half', 18])
    const reset = await curl('-x', proxy.url, `http://allowed.test:${unsized.port}/`)
    assert.notEqual(reset.code, 0)
  })

  test('of HEAD is refused without a body', async () => {
    await using proxy = await testProxy()
    const { stdout, code } = await curl('-x', proxy.url, '-I', 'http://denied.test/')
    assert.equal(code, 0)
    assert.match(stdout, /^HTTP\/1.1 403 Forbidden\r\n.*\r\n\r\n$/s)
  })
})

describe('CONNECT', () => {
  test('makes a tunnel for TLS to a host that is allowed', async () => {
    const server = createTlsServer({ cert: fixture('cert'), key: fixture('key') }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(response('secret')))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using proxy = await testProxy({ domains: { localhost: 'allow' } })
    const { stdout, stderr } = await curl('-x', proxy.url, '-k', `https://localhost:${port}/`)
    server.close()
    assert.deepEqual([stdout, stderr], ['secret', ''])
    const [{ protocol, host, method }] = proxy.decisions as [(typeof proxy.decisions)[number]]
    assert.deepEqual([protocol, host, method], ['https_connect', 'localhost', 'CONNECT'])
  })

  test('is answered with 403 for others, and so is any in limited mode', async () => {
    await using proxy = await testProxy()
    const blocked = await curl('-x', proxy.url, '-D', '-', 'https://denied.test/')
    assert.match(blocked.stdout, /^HTTP\/1.1 403 Forbidden\r\nx-proxy-error: blocked-by-denylist\r\n/)
    assert.match(blocked.stderr, /403/)
    await using limited = await testProxy({ ...LOCAL_TEST, mode: 'limited' })
    const tunnel = await curl('-x', limited.url, '-D', '-', 'https://allowed.test/')
    assert.match(tunnel.stdout, /x-proxy-error: blocked-by-method-policy\r\n/)
    const post = await curl('-x', limited.url, '-d', 'x', 'http://allowed.test/')
    assert.match(post.stdout, /only GET, HEAD and OPTIONS over plain HTTP are allowed \(method_not_allowed\)/)
    assert.deepEqual(
      limited.decisions.map(({ source, scope }) => [source, scope]),
      Array(2).fill(['mode_guard', 'non_domain']),
    )
  })

  test('passes on what came with it, and lets each side end first', async () => {
    const before = sockets()
    {
      await using server = await origin((socket, text) => {
        socket.prependListener('end', () => socket.write(' and goodbye'))
        socket.write(`you said ${text.trim()}`)
      })
      await using proxy = await testProxy()
      using client = new RawClient(proxy.port)
      client.socket.end(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\nhello\r\n\r\n`)
      assert.match(await client.rest(), /^HTTP\/1.1 200 .*\r\n\r\nyou said hello and goodbye$/)
      await until('the server is let go', () => server.sockets.size === 0)
    }
    await until('all sockets are closed', () => sockets() <= before)
  })

  test('ends when either side is cut', async () => {
    await using server = await origin((socket) => socket.write('hi'))
    await using proxy = await testProxy()
    const open = async () => {
      const client = new RawClient(proxy.port)
      client.socket.write(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\nx\r\n\r\n`)
      await client.bytes(41)
      return client
    }
    using one = await open()
    one.socket.resetAndDestroy()
    await until('the server is let go', () => server.sockets.size === 0)
    using two = await open()
    for (const socket of server.sockets) socket.resetAndDestroy()
    await two.rest()
    await until('the client is let go', () => two.ended)
  })
})
