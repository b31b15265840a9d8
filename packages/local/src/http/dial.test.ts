import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { describe, test } from 'node:test'
import { closeDescriptor } from '../libc.ts'
import { AddressPolicy } from './address-policy.ts'
import { Deadline } from './deadline.ts'
import {
  certificate,
  descriptors,
  fails,
  get,
  rawServer,
  readAll,
  reply,
  testClient,
  until,
} from './fixtures/servers.ts'

/** A port of 127.0.0.1 that takes one connection and leaves all others without an answer. */
async function deafPort(): Promise<{ port: number } & AsyncDisposable> {
  const { dlopen, ptr } = await import('bun:ffi')
  const library = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    bind: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
    listen: { args: ['i32', 'i32'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
  })
  const address = new Uint8Array([2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  const size = new Uint32Array([16])
  const fd = library.symbols.socket(2, 1, 0)
  library.symbols.bind(fd, ptr(address), 16)
  library.symbols.listen(fd, 0)
  library.symbols.getsockname(fd, ptr(address), ptr(size))
  const port = new DataView(address.slice().buffer).getUint16(2)
  const first = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  return {
    port,
    async [Symbol.asyncDispose]() {
      first.terminate()
      closeDescriptor(fd)
      library.close()
    },
  }
}

describe('a connection', () => {
  test('that nobody accepts is refused, a name that does not exist is not found', async () => {
    using client = testClient({
      lookup: async () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    })
    const refused = 'error sending request for url (http://127.0.0.1:1/): connection refused'
    await assert.rejects(client.request(get('http://127.0.0.1:1/')), fails('HTTP_FAILED', refused))
    const unknown = 'error sending request for url (http://no.example/): the host name cannot be resolved'
    await assert.rejects(client.request(get('http://no.example/')), fails('HTTP_FAILED', unknown))
  })

  test('goes to names that the system knows, and to addresses of both kinds', async () => {
    using client = testClient()
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    assert.equal(await readAll(await client.request(get(`http://localhost:${server.port}/`))), 'hi')
    await using newer = await rawServer(({ socket }) => socket.write(reply('hi')), { host: '::1' })
    assert.equal(await readAll(await client.request(get(newer.url))), 'hi')
    assert.match(newer.requests[0]!.text, new RegExp(`host: \\[::1\\]:${newer.port}\r\n`))
  })

  test('goes to the next address of a name when the first does not answer', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    using client = testClient({ lookup: async () => ['127.0.0.2', '::1', '127.0.0.1'] })
    const response = await client.request(get(`http://three.example:${server.port}/`))
    assert.equal(await readAll(response), 'hi')
    assert.match(server.requests[0]!.text, /^GET \/ HTTP\/1.1\r\nhost: three.example:\d+\r\n/)
  })

  test('goes to no address that the policy refuses, however it is written', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    const policy = new AddressPolicy({ mode: 'allow', allow: [], localAllowed: false })
    using client = testClient({ policy, lookup: async () => ['127.0.0.1', '::1'] })
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
      '[::]',
    ]
    for (const host of [...hosts, '①②⑦.0.0.1', 'localhost', 'evil.example', 'localhost.']) {
      const denied = fails('HTTP_DENIED', /^the executor may not talk to .*--http-allow \S+ to allow this$/)
      await assert.rejects(client.request(get(`http://${host}:${server.port}/`)), denied, host)
    }
    assert.equal(server.accepted(), 0)
  })

  test('goes where the name led when the policy was asked, though it leads elsewhere now', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi', { headers: ['connection: close'] })))
    const looked: string[] = []
    using client = testClient({
      lookup: async (host) => (looked.push(host) === 1 ? ['127.0.0.1'] : ['169.254.169.254']),
    })
    const headers = [{ name: 'connection', value: 'close' }]
    const request = get(`http://rebinding.example:${server.port}/`, { headers })
    assert.equal(await readAll(await client.request(request)), 'hi')
    assert.deepEqual(looked, ['rebinding.example'])
    const denied = fails(
      'HTTP_DENIED',
      /talk to rebinding.example on port \d+: 169.254.169.254 is an address of a cloud/,
    )
    await assert.rejects(client.request(request), denied)
  })

  test('passes over the refused addresses of a name', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')))
    using client = testClient({ lookup: async () => ['169.254.169.254', 'fe80::1', '127.0.0.1'] })
    assert.equal(await readAll(await client.request(get(`http://mixed.example:${server.port}/`))), 'hi')
  })
})

describe('TLS', () => {
  test('works with a certificate that is trusted and belongs to the name or the address', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('secure')), { tls: true })
    using client = testClient({ ca: certificate, lookup: async () => ['127.0.0.1'] })
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1']) {
      assert.equal(await readAll(await client.request(get(`https://${host}:${server.port}/`))), 'secure')
    }
  })

  test('refuses certificates of strangers, and those of somebody else', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('secure')), { tls: true })
    using trusting = testClient({ ca: certificate, lookup: async () => ['127.0.0.1'] })
    using strict = testClient({ lookup: async () => ['127.0.0.1'] })
    const untrusted = fails('HTTP_FAILED', /^error sending request for url \(https:.*\): self.signed certificate$/)
    await assert.rejects(strict.request(get(`https://localhost:${server.port}/`)), untrusted)
    const mismatch = fails('HTTP_FAILED', /does not match certificate's altnames/)
    await assert.rejects(trusting.request(get(`https://other.example:${server.port}/`)), mismatch)
    assert.equal(server.requests.length, 0)
  })

  test('cannot be switched off by the environment', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('secure')), { tls: true })
    using client = testClient({ lookup: async () => ['127.0.0.1'] })
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const request = client.request(get(`https://localhost:${server.port}/`))
      await assert.rejects(request, fails('HTTP_FAILED', /self.signed certificate$/))
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  test('says so when the server does not speak it', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    using client = testClient()
    const request = client.request(get(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`))
    await assert.rejects(request, fails('HTTP_FAILED', /: the server does not speak TLS$/))
    server.close()
  })
})

describe('nobody answers', {
  skip: process.platform === 'linux' ? false : 'queues of listeners work otherwise',
}, () => {
  test('and the attempt is given up at once when the caller cancels or its time is over', async () => {
    await using deaf = await deafPort()
    using client = testClient()
    const url = `http://127.0.0.1:${deaf.port}/`
    const before = descriptors()
    for (let i = 0; i < 20; i++) {
      const deadline = new Deadline()
      const request = client.request(get(url), deadline)
      await until(() => descriptors() > before)
      deadline.abort(new Error('cancelled'))
      await assert.rejects(request, fails('HTTP_FAILED', `error sending request for url (${url}): cancelled`))
    }
    const late = fails('HTTP_FAILED', `error sending request for url (${url}): timed out after 50 ms`)
    await assert.rejects(client.request(get(url), new Deadline(50)), late)
    await until(() => descriptors() <= before)
  })

  test('and the next address of the name is tried', async () => {
    await using deaf = await deafPort()
    await using server = await rawServer(({ socket }) => socket.write(reply('hi')), {
      host: '127.0.0.2',
      port: deaf.port,
    })
    using client = testClient({ lookup: async () => ['127.0.0.1', '127.0.0.2'] })
    const response = await client.request(get(`http://two.example:${server.port}/`))
    assert.equal(await readAll(response), 'hi')
  })
})
