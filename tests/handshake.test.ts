import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RawClient, startServer, type TestServer } from '@waldo/testkit'

const MiB = 1024 * 1024

describe('the handshake and the envelope', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  /** The next message that answers no call. */
  const stray = async (client: RawClient) => {
    await client.until(() => client.strays.length > 0, 'an answer')
    return client.strays.shift()
  }

  test('initialize gives a session and says what the machine is', async () => {
    await using client = await RawClient.open(server.url)
    const { sessionId, environmentInfo } = await client.initialize()
    assert.match(sessionId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.match(environmentInfo.shell.path, /^\/.*sh$/)
    assert.equal(environmentInfo.cwd, 'file:///')
    assert.equal(environmentInfo.platformOs, 'linux')
    assert.match(environmentInfo.providerId, /^sha256:[0-9a-f]{64}$/)
    const { sandbox, ...info } = await client.call('environment/info')
    assert.deepEqual(info, environmentInfo)
    assert.equal(sandbox.available, true)
    for (const flag of ['processResize', 'processCloseStdin', 'processList', 'processSignalNames', 'sessionEnd']) {
      assert.equal(environmentInfo.capabilities[flag], true, flag)
    }
  })

  test('a second initialize fails, also on a resumed connection', async () => {
    const first = await RawClient.connect(server.url)
    assert.equal((await first.failure('initialize', { clientName: 'x' })).code, -32600)
    first.drop()
    await using second = await RawClient.connect(server.url, { resume: first.sessionId })
    assert.equal((await second.failure('initialize', { clientName: 'x' })).code, -32600)
  })

  test('64-bit ids come back to the letter', async () => {
    const texts: string[] = []
    const socket = new WebSocket(server.url)
    socket.onmessage = ({ data }) => void texts.push(String(data))
    await new Promise((resolve) => {
      socket.onopen = resolve
    })
    socket.send('{"id":9223372036854775807,"method":"nope"}')
    while (texts.length === 0) await Bun.sleep(1)
    assert.match(texts[0]!, /"id":9223372036854775807\}$/)
    socket.close()
  })

  test('what is malformed is answered with id -1, and the connection lives', async () => {
    await using client = await RawClient.connect(server.url)
    const deep = `{"id":1,"method":"environment/status","x":${'['.repeat(128)}${']'.repeat(128)}}`
    const many = `{"id":1,"method":"environment/status","x":[${'1,'.repeat(262_144)}1]}`
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /not JSON/],
      ['{', /not JSON/],
      [deep, /nested deeper than 128 levels/],
      [many, /more than 262144 JSON values/],
      ['{"id":1,"id":2,"method":"environment/status"}', /duplicate object key `id`/],
      [Uint8Array.of(0xff, 0xfe), /not JSON/],
    ]
    for (const [data, message] of cases) {
      client.send(data)
      const { id, error } = await stray(client)
      assert.deepEqual([id, error.code], [-1, -32600])
      assert.match(error.message, message)
    }
    assert.deepEqual(await client.call('environment/status'), { status: 'ready' })
  })

  test('unknown notifications are ignored, misused ones end the connection with a reason', async () => {
    await using client = await RawClient.connect(server.url)
    client.notify('some/newer/thing', {})
    assert.deepEqual(await client.call('environment/status'), { status: 'ready' })
    const cases: [string, RegExp][] = [
      ['{"method":"process/start"}', /needs an id/],
      ['{"id":7,"result":{}}', /asked nothing/],
      ['{"id":7,"error":{"code":1,"message":"x"}}', /asked nothing/],
    ]
    for (const [message, reason] of cases) {
      const other = await RawClient.connect(server.url)
      other.send(message)
      const closed = await other.untilDisconnected()
      assert.equal(closed.code, 1002)
      assert.match(closed.reason, reason)
    }
    const early = await RawClient.open(server.url)
    early.notify('initialized')
    assert.equal((await early.untilDisconnected()).code, 1002)
  })

  test('a message of 64 MiB arrives, a larger one ends the connection and nothing else', async () => {
    await using client = await RawClient.connect(server.url)
    const message = (size: number) => {
      const frame = '{"id":1,"method":"environment/status","x":""}'
      return frame.replace('""', `"${'x'.repeat(size - frame.length)}"`)
    }
    await using other = await RawClient.connect(server.url)
    client.send(message(64 * MiB).replace('"id":1', '"id":9'))
    assert.deepEqual((await stray(client)).result, { status: 'ready' })
    client.send(message(65 * MiB))
    assert.equal((await client.untilDisconnected()).code, 1009)
    assert.deepEqual(await other.call('environment/status'), { status: 'ready' })
  })

  test('params of the wrong shape name the member', async () => {
    await using client = await RawClient.connect(server.url)
    const good = { processId: 'x', argv: ['true'], cwd: 'file:///', env: {}, tty: false }
    const cases: [object, RegExp][] = [
      [{ ...good, argv: 'true' }, /argv: expected an array/],
      [{ ...good, env: { A: 1 } }, /env: A: expected a string/],
      [{ ...good, pipeStdin: null }, /pipeStdin: expected a boolean/],
      [{ ...good, cwd: 'file://host/x' }, /is invalid on 'linux'/],
      [{ ...good, cwd: 'file:///C:/x' }, /is invalid on 'linux'/],
      [{ ...good, cwd: 'http://x/' }, /unsupported path URI scheme/],
      [{ ...good, size: { cols: 1, rows: 1 } }, /size needs tty/],
      [{ ...good, tty: true, size: { cols: 70_000, rows: 1 } }, /size: cols: expected a whole number/],
      [{ ...good, shellSnapshot: { scopeId: '', shell: { name: 'sh', path: '/bin/sh' } } }, /shell snapshot scope/],
      [
        { ...good, sandbox: { permissions: { type: 'managed' }, windowsSandboxLevel: 'disabled' } },
        /sandbox: permissions: missing field `file_system`/,
      ],
      [{ ...good, enforceManagedNetwork: true }, /needs a sandbox/],
      [{ ...good, networkProxy: {} }, /missing field `proxy`/],
      [{ ...good, limits: { wallMs: 0 } }, /limits: wallMs: expected a number above 0/],
    ]
    for (const [params, message] of cases) {
      const error = await client.failure('process/start', params)
      assert.equal(error.code, -32602, error.message)
      assert.match(error.message, message)
    }
    assert.deepEqual((await client.call('process/list')).processes, [])
  })

  test('an intent that restricts nothing runs plainly', async () => {
    await using client = await RawClient.connect(server.url)
    const sandbox = { permissions: { type: 'disabled' }, windowsSandboxLevel: 'disabled' }
    assert.equal((await client.run('exit 4', { sandbox })).exitCode, 4)
  })
})
