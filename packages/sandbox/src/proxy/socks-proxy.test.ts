import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { curl, LOCAL_TEST, origin, RawClient, response, say, testProxy, until } from './fixtures/proxy.ts'

const GREETING = Buffer.of(5, 1, 0)
const hostRequest = (host: string, port: number, command = 1) =>
  Buffer.concat([
    Buffer.of(5, command, 0, 3, host.length),
    Buffer.from(host, 'latin1'),
    Buffer.of(port >> 8, port & 255),
  ])

/** The reply to a request, after the greeting. */
async function replyTo(port: number, request: Buffer): Promise<number> {
  using client = new RawClient(port)
  client.socket.write(Buffer.concat([GREETING, request]))
  const bytes = await client.bytes(4)
  assert.deepEqual([...bytes.subarray(0, 3)], [5, 0, 5])
  return bytes[3]!
}

describe('SOCKS5', () => {
  test('makes a tunnel to a host that is allowed, whose name the proxy looks up', async () => {
    await using server = await origin(response('hello'))
    await using proxy = await testProxy()
    const url = `http://allowed.test:${server.port}/`
    const { stdout } = await curl('-x', `socks5h://127.0.0.1:${proxy.port}`, url)
    assert.equal(stdout, 'hello')
    const [{ protocol, host, port, method, decision }] = proxy.decisions as [(typeof proxy.decisions)[number]]
    assert.deepEqual(
      [protocol, host, port, method, decision],
      ['socks5_tcp', 'allowed.test', server.port, undefined, 'allow'],
    )
    await until('the server is let go', () => server.sockets.size === 0)
  })

  test('refuses others with "not allowed", however an address is written', async () => {
    await using server = await origin(response('reached'))
    await using proxy = await testProxy({ domains: { 'allowed.test': 'allow', 'denied.test': 'deny' } })
    const { code, stderr } = await curl('-x', `socks5h://127.0.0.1:${proxy.port}`, 'http://denied.test/')
    assert.equal(code, 97, stderr)
    const { port } = server
    const local = [
      hostRequest('denied.test', port),
      hostRequest('other.test', port),
      hostRequest('allowed.test', port),
      hostRequest('localhost', port),
      hostRequest('127.0.0.1', port),
      hostRequest('2130706433', port),
      hostRequest('0x7f.1', port),
      hostRequest('::1', port),
      Buffer.of(5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255),
      Buffer.of(5, 1, 0, 4, ...Array(15).fill(0), 1, port >> 8, port & 255),
      Buffer.of(5, 1, 0, 4, ...Array(10).fill(0), 255, 255, 127, 0, 0, 1, port >> 8, port & 255),
    ]
    for (const request of local) assert.equal(await replyTo(proxy.port, request), 2, request.toString('latin1'))
    assert.deepEqual(server.received, [])
    // The one curl has asked for comes first.
    assert.deepEqual(
      proxy.proxy.blocked().map(({ reason }) => reason),
      ['denied', 'denied', 'not_allowed', ...Array(9).fill('not_allowed_local')],
    )
  })

  test('says which of the other things has gone wrong', async () => {
    await using proxy = await testProxy(LOCAL_TEST, {
      lookup: async () => ['127.0.0.1'],
    })
    await using nowhere = await testProxy(
      { domains: { 'allowed.test': 'allow' } },
      { lookup: () => Promise.reject(new Error()) },
    )
    await using slow = await testProxy(LOCAL_TEST, { lookup: () => new Promise(() => {}), limits: { lookupMs: 20 } })
    assert.equal(await replyTo(proxy.port, hostRequest('allowed.test', 1)), 5)
    assert.equal(await replyTo(nowhere.port, hostRequest('allowed.test', 80)), 4)
    assert.equal(await replyTo(slow.port, hostRequest('allowed.test', 80)), 6)
    assert.equal(await replyTo(proxy.port, hostRequest('allowed.test', 80, 2)), 7)
    assert.equal(await replyTo(proxy.port, hostRequest('0.0.0.0', 0, 3)), 7)
    for (const request of [
      hostRequest('not a host', 80),
      hostRequest('allowed.test\0', 80),
      hostRequest('allowed.test', 0),
      hostRequest('', 80),
      Buffer.of(5, 1, 0, 9, 0, 0, 0),
    ]) {
      assert.equal(await replyTo(proxy.port, request), 8)
    }
    assert.equal(await replyTo(proxy.port, Buffer.of(4, 1, 0, 1, 1, 1, 1, 1, 0, 80)), 1)
  })

  test('takes what comes in pieces, and what comes early', async () => {
    await using server = await origin(response('hello'))
    await using proxy = await testProxy()
    const all = Buffer.concat([
      GREETING,
      hostRequest('allowed.test', server.port),
      Buffer.from('GET / HTTP/1.0\r\n\r\n'),
    ])
    using client = new RawClient(proxy.port)
    for (const byte of all) {
      client.socket.write(Buffer.of(byte))
      await Bun.sleep(1)
    }
    assert.match(await client.rest(), /hello$/)
    assert.match(await say(proxy.port, all), /hello$/)
  })

  test('is the only one of its kind, and needs no password', async () => {
    await using proxy = await testProxy()
    assert.deepEqual(Buffer.from(await say(proxy.port, Buffer.of(5, 1, 2)), 'latin1'), Buffer.of(5, 255))
    assert.deepEqual(Buffer.from(await say(proxy.port, Buffer.of(5, 0)), 'latin1'), Buffer.of(5, 255))
    const version4 = Buffer.of(4, 1, 0, 80, 127, 0, 0, 1, 0)
    assert.deepEqual(Buffer.from(await say(proxy.port, version4), 'latin1'), Buffer.of(0, 91, 0, 0, 0, 0, 0, 0))
    await using without = await testProxy({ ...LOCAL_TEST, enableSocks5: false })
    assert.deepEqual(Buffer.from(await say(without.port, GREETING), 'latin1'), Buffer.of(5, 255))
  })
})
