import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  curl,
  LOCAL_TEST,
  origin,
  RawClient,
  response,
  say,
  sockets,
  testProxy,
  until,
  wireConfig,
} from './fixtures/proxy.ts'
import { openProxy } from './network-proxy.ts'
import { proxyRules } from './rules.ts'

describe('a proxy', () => {
  test('has so many connections, says so to the next, and has room again when one has ended', async () => {
    await using proxy = await testProxy(LOCAL_TEST, { limits: { connections: 2 } })
    const held = [new RawClient(proxy.port), new RawClient(proxy.port)]
    for (const client of held) client.socket.write('G')
    await until('both are in', () => held.every(({ socket }) => !socket.connecting))
    const refused = await say(proxy.port, 'GET http://denied.test/ HTTP/1.1\r\n\r\n')
    assert.match(refused, /^HTTP\/1.1 503 Service Unavailable\r\n.*has 2 connections to the network already\n$/s)
    for (const client of held) client.socket.destroy()
    let answer = ''
    while (!answer.startsWith('HTTP/1.1 403'))
      answer = await say(proxy.port, 'GET http://denied.test/ HTTP/1.1\r\n\r\n')
  })

  test('cuts off a flood', async () => {
    await using proxy = await testProxy(LOCAL_TEST, { limits: { connections: 2 } })
    const before = sockets()
    const flood = Array.from({ length: 200 }, () => new RawClient(proxy.port))
    for (const client of flood) client.socket.write('G')
    await until('all but two are answered or cut', () => flood.filter(({ ended }) => !ended).length <= 2)
    for (const client of flood) client.socket.destroy()
    await until('all are let go', () => sockets() <= before)
  })

  test('waits only so long for a request, for a host, and for something to move', async () => {
    await using headless = await testProxy(LOCAL_TEST, { limits: { headMs: 50 } })
    assert.equal(await say(headless.port, ''), '')
    assert.match(await say(headless.port, 'GET http://'), /^HTTP\/1.1 408 /)
    assert.equal(await say(headless.port, Buffer.of(5)), '')
    await using nameless = await testProxy(LOCAL_TEST, {
      limits: { lookupMs: 50 },
      lookup: () => new Promise(() => {}),
    })
    const request = 'GET http://allowed.test/ HTTP/1.1\r\n\r\n'
    assert.match(await say(nameless.port, request), /^HTTP\/1.1 504 .*within 50 ms\n$/s)
    await using server = await origin(() => {})
    await using idle = await testProxy(LOCAL_TEST, { limits: { idleMs: 50 } })
    const target = `allowed.test:${server.port}`
    assert.match(await say(idle.port, `GET http://${target}/ HTTP/1.1\r\n\r\n`), /^HTTP\/1.1 504 .*too long\n$/s)
    assert.match(await say(idle.port, `CONNECT ${target} HTTP/1.1\r\n\r\n`), /^HTTP\/1.1 200 .*\r\n\r\n$/)
    await until('the server is let go', () => server.sockets.size === 0)
  })

  test('remembers the last two hundred requests that it has blocked', async () => {
    await using proxy = await testProxy()
    for (let i = 0; i < 201; i++) await say(proxy.port, `GET http://h${i}.test/ HTTP/1.1\r\n\r\n`)
    const blocked = proxy.proxy.blocked()
    assert.deepEqual([blocked.length, blocked[0]?.host, blocked.at(-1)?.host], [200, 'h1.test', 'h200.test'])
    assert.equal(proxy.decisions.length, 201)
  })

  test('asks about what it does not know, and does as it is told', async () => {
    await using server = await origin(response('hello'))
    const asked: unknown[] = []
    await using proxy = await testProxy(
      { allowLocalBinding: true },
      {
        decide: async (question) => {
          asked.push(question)
          return question.host === 'yes.test' ? { type: 'allow' } : { type: 'deny', reason: 'because' }
        },
      },
    )
    const yes = await curl('-x', proxy.url, `http://yes.test:${server.port}/`)
    assert.equal(yes.stdout, 'hello')
    const no = await curl('-x', proxy.url, '-D', '-', 'http://no.test/')
    assert.match(no.stdout, /x-proxy-error: blocked-by-policy\r\n.*the network policy says no \(because\)\n$/s)
    assert.deepEqual(asked, [
      { protocol: 'http', host: 'yes.test', port: server.port },
      { protocol: 'http', host: 'no.test', port: 80 },
    ])
  })

  test('goes to the next address when nobody answers at the first, and to IPv6', async () => {
    await using server = await origin(response('hello'))
    await using proxy = await testProxy(LOCAL_TEST, { lookup: async () => ['127.0.0.2', '::1', '127.0.0.1'] })
    assert.equal((await curl('-x', proxy.url, `http://allowed.test:${server.port}/`)).stdout, 'hello')
    await using newer = await origin(response('newer'), '::1')
    await using explicit = await testProxy({ domains: { '::1': 'allow' } })
    assert.equal((await curl('-x', explicit.url, '-g', `http://[::1]:${newer.port}/`)).stdout, 'newer')
    assert.match(newer.received[0]!, new RegExp(`\r\nhost: \\[::1\\]:${newer.port}\r\n`))
  })

  test('leaves nothing behind when it is closed in the middle of everything', async () => {
    const before = sockets()
    {
      await using server = await origin((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'))
      const aborted = Promise.withResolvers<void>()
      const questions = Promise.withResolvers<void>()
      const proxy = await testProxy(LOCAL_TEST, {
        decide: (_, signal) => {
          signal.addEventListener('abort', () => aborted.resolve())
          questions.resolve()
          return new Promise(() => {})
        },
      })
      const target = `allowed.test:${server.port}`
      const clients = [
        '',
        'GET http://half',
        'GET http://asked.test/ HTTP/1.1\r\n\r\n',
        `GET http://${target}/ HTTP/1.1\r\n\r\n`,
        `CONNECT ${target} HTTP/1.1\r\n\r\nx\r\n\r\n`,
        '\x05',
      ].map((text) => {
        const client = new RawClient(proxy.port)
        client.socket.write(Buffer.from(text, 'latin1'))
        return client
      })
      await Promise.all([questions.promise, clients[3]!.bytes(40), clients[4]!.bytes(60)])
      await Promise.all([proxy.proxy.close(), proxy.proxy.close(), aborted.promise])
      for (const client of clients) {
        await client.rest()
        client.socket.destroy()
      }
      await until('the servers are let go', () => server.sockets.size === 0)
      assert.equal((await curl('-x', proxy.url, 'http://denied.test/')).code, 7)
    }
    await until('all sockets are closed', () => sockets() <= before)
  })

  test('that cannot listen says so, and keeps nothing', async () => {
    await using taken = await testProxy()
    const options = { rules: proxyRules(wireConfig()), onDecision: () => {} }
    await assert.rejects(
      openProxy({ ...options, listener: { host: '127.0.0.1', port: taken.port } }),
      /EADDRINUSE|in use/,
    )
  })

  test('carries many tunnels at once without mixing them up', async () => {
    await using server = await origin((socket, text) => socket.end(text.slice(0, 8).repeat(50_000)))
    await using proxy = await testProxy()
    const texts = Array.from({ length: 100 }, (_, i) => String(i).padStart(8, '-'))
    const answers = await Promise.all(
      texts.map((text) => say(proxy.port, `CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\n${text}\r\n\r\n`)),
    )
    for (const [i, answer] of answers.entries()) assert.ok(answer.endsWith(`\r\n\r\n${texts[i]!.repeat(50_000)}`))
  })
})
