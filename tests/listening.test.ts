import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { eventually, processesWith, RawClient, serverCommand, startServer } from '@waldo/testkit'

const directory = mkdtempSync(join(tmpdir(), 'waldo-listen-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const fixture = (name: string) => join(import.meta.dir, 'fixtures', name)

/** Runs the command line to its end. */
async function waldo(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([...serverCommand(), ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 10_000 })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

const status = (client: RawClient) => client.call('environment/status')

describe('several listeners', () => {
  test('each prints its address, and all serve the same executor', async () => {
    const path = join(directory, 'several.sock')
    const listen = ['--listen', 'ws://127.0.0.1:0', '--listen', `unix://${path}`, '--listen', 'ws://[::1]:0']
    await using server = await startServer({ args: listen })
    assert.match(server.urls[0]!, /^ws:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(server.urls[1], `unix://${path}`)
    assert.match(server.urls[2]!, /^ws:\/\/\[::1\]:\d+$/)
    const first = await RawClient.connect(server.urls[0]!)
    const id = await first.start(['cat'], { pipeStdin: true })
    first.drop()
    await Bun.sleep(50)
    await using second = await RawClient.connect(server.urls[1]!, { resume: first.sessionId })
    await second.write(id, 'over another door\n')
    await second.untilOutput(id, 'over another door')
    await using third = await RawClient.connect(server.urls[2]!)
    assert.deepEqual(await status(third), { status: 'ready' })
  })
})

describe('a unix socket', () => {
  test('is for its user alone, and goes with the server', async () => {
    const path = join(directory, 'one.sock')
    const server = await startServer({ args: ['--listen', `unix://${path}`] })
    assert.equal(statSync(path).mode & 0o777, 0o600)
    await using client = await RawClient.connect(server.url)
    assert.equal((await client.run('echo hi')).stdout, 'hi\n')
    const ready = await fetch('http://localhost/readyz', { unix: path })
    assert.equal(ready.status, 200)
    server.kill('SIGTERM')
    assert.equal(await server.exited, 0)
    assert.ok(!readdirSync(directory).includes('one.sock'))
    await server[Symbol.asyncDispose]()
  })

  test('replaces one that a killed server left, and no other', async () => {
    const path = join(directory, 'stale.sock')
    const first = await startServer({ args: ['--listen', `unix://${path}`] })
    const taken = await waldo('serve', '--listen', `unix://${path}`)
    assert.deepEqual([taken.code, /another server is listening/.test(taken.stderr)], [1, true])
    first.kill('SIGKILL')
    await first.exited
    await using second = await startServer({ args: ['--listen', `unix://${path}`] })
    await using client = await RawClient.connect(second.url)
    assert.deepEqual(await status(client), { status: 'ready' })
    const file = join(directory, 'file')
    writeFileSync(file, 'precious')
    assert.match((await waldo('serve', '--listen', `unix://${file}`)).stderr, /no socket/)
    assert.equal(readFileSync(file, 'utf8'), 'precious')
    await first[Symbol.asyncDispose]()
  })
})

describe('stdio', () => {
  const start = (...args: string[]) =>
    Bun.spawn([...serverCommand(), 'serve', '--listen', 'stdio', '--state-dir', directory, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  const hello = '{"id":1,"method":"initialize","params":{"clientName":"x"}}\n{"method":"initialized"}\n'

  test('serves one client, and ends with it and its processes', async () => {
    const child = start()
    child.stdin.write(hello)
    const params = {
      processId: 'p',
      argv: ['sleep', '9991'],
      cwd: 'file:///',
      env: { PATH: '/bin:/usr/bin' },
      tty: false,
    }
    child.stdin.write(`${JSON.stringify({ id: 2, method: 'process/start', params })}\r\n\n`)
    await child.stdin.flush()
    await eventually(() => processesWith('sleep 9991').length > 0, 'the process')
    // A last line without a line feed counts.
    child.stdin.write('{"id":3,"method":"environment/status"}')
    await child.stdin.end()
    const lines = (await child.stdout.text()).trim().split('\n')
    assert.equal(await child.exited, 0)
    assert.deepEqual(lines.slice(1), [
      '{"id":2,"result":{"processId":"p","sandboxType":"none"}}',
      '{"id":3,"result":{"status":"ready"}}',
    ])
    await eventually(() => processesWith('sleep 9991').length === 0, 'the process to end')
  })

  test('delivers a flood to a client that takes its time', async () => {
    const child = start()
    child.stdin.write(hello)
    const params = {
      processId: 'p',
      argv: ['head', '-c', '30000000', '/dev/zero'],
      cwd: 'file:///',
      env: { PATH: '/bin:/usr/bin' },
      tty: false,
    }
    child.stdin.write(`${JSON.stringify({ id: 2, method: 'process/start', params })}\n`)
    await child.stdin.flush()
    let text = ''
    let bytes = 0
    let closed = false
    for await (const data of child.stdout) {
      const lines = (text + Buffer.from(data).toString('latin1')).split('\n')
      text = lines.pop()!
      for (const line of lines) {
        const { method, params } = JSON.parse(line)
        if (method === 'process/output') bytes += Buffer.from(params.chunk, 'base64').length
        if (method === 'process/closed') closed = true
      }
      if (closed) break
      if (Math.random() < 0.01) await Bun.sleep(5)
    }
    assert.equal(bytes, 30_000_000)
    child.kill()
  })

  test('ends with a line that is too long or not UTF-8, and says so', async () => {
    for (const [data, reason] of [
      [Buffer.of(0xff, 0x0a), /invalid|utf-?8|encoded/i],
      [Buffer.alloc(65 * 1024 * 1024, 0x20), /longer than 67108864 bytes/],
    ] as const) {
      const child = start()
      child.stdin.write(hello)
      child.stdin.write(data)
      // It may have ended before it has read everything.
      Promise.resolve(child.stdin.flush()).catch(() => {})
      assert.equal(await child.exited, 0)
      assert.match(await child.stderr.text(), reason)
    }
  })

  test('beside another listener leaves that one alone', async () => {
    const child = start('--listen', 'ws://127.0.0.1:0')
    const reader = child.stderr.getReader()
    const url = new TextDecoder().decode((await reader.read()).value).trim()
    await child.stdin.end()
    await Bun.sleep(100)
    const client = await RawClient.connect(url)
    assert.deepEqual(await status(client), { status: 'ready' })
    child.kill('SIGTERM')
    assert.equal(await child.exited, 0)
    assert.equal(await child.stdout.text(), '')
  })
})

describe('who may connect', () => {
  test('wss with a certificate', async () => {
    const tls = ['--tls-cert', fixture('localhost.cert.pem'), '--tls-key', fixture('localhost.key.pem')]
    for (const listen of ['ws://127.0.0.1:0', 'wss://127.0.0.1:0']) {
      await using server = await startServer({ args: ['--listen', listen, ...tls] })
      assert.match(server.url, /^wss:\/\/127\.0\.0\.1:\d+$/)
      await using client = await RawClient.connect(server.url, { tls: { rejectUnauthorized: false } })
      assert.equal((await client.run('echo safe')).stdout, 'safe\n')
      await assert.rejects(RawClient.open(server.url.replace('wss', 'ws')))
    }
  })

  test('a token, on TCP and on a unix socket alike', async () => {
    const file = join(directory, 'token')
    writeFileSync(file, 'let-me-in\n')
    const path = join(directory, 'auth.sock')
    const args = [
      '--listen',
      'ws://127.0.0.1:0',
      '--listen',
      `unix://${path}`,
      '--ws-auth',
      'capability-token',
      '--ws-token-file',
      file,
    ]
    await using server = await startServer({ args })
    for (const url of server.urls) {
      await assert.rejects(RawClient.open(url))
      await assert.rejects(RawClient.open(url, { headers: { authorization: 'Bearer let-me-out' } }))
      await using client = await RawClient.connect(url, { headers: { authorization: 'Bearer let-me-in' } })
      assert.deepEqual(await status(client), { status: 'ready' })
    }
  })

  test('not a web page', async () => {
    await using server = await startServer()
    await assert.rejects(RawClient.open(server.url, { headers: { origin: 'http://localhost' } }))
    const response = await fetch(`${server.url.replace('ws', 'http')}/readyz`, { headers: { origin: '' } })
    assert.equal(response.status, 403)
  })

  test('other machines only with authentication, or when somebody insists', async () => {
    const refused = await waldo('serve', '--listen', 'ws://0.0.0.0:0')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^Error: refusing to listen on ws:\/\/0\.0\.0\.0:0: .*--ws-auth.*--insecure/)
    assert.match((await waldo('serve', '--listen', 'ws://[::]:0')).stderr, /refusing to listen/)
    await using open = await startServer({ args: ['--listen', 'ws://0.0.0.0:0', '--insecure'] })
    assert.match(open.url, /^ws:\/\/0\.0\.0\.0:\d+$/)
    const digest = new Bun.CryptoHasher('sha256').update('t').digest('hex')
    const guarded = ['--ws-auth', 'capability-token', '--ws-token-sha256', digest]
    await using closed = await startServer({ args: ['--listen', 'ws://0.0.0.0:0', ...guarded] })
    await assert.rejects(RawClient.open(closed.url.replace('0.0.0.0', '127.0.0.1')))
  })
})

describe('the command line', () => {
  test('explains itself', async () => {
    const help = await waldo('--help')
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, /Usage: waldo <command>/)
    const serve = await waldo('serve', '--help')
    for (const flag of [
      '--listen',
      '--ws-auth',
      '--tls-cert',
      '--detached-ttl',
      '--receipt-ttl',
      '--state-dir',
      '--insecure',
    ]) {
      assert.ok(serve.stdout.includes(flag), flag)
    }
    assert.match((await waldo('--version')).stdout, /^waldo \d+\.\d+\.\d+\n$/)
    assert.equal((await waldo()).code, 2)
  })

  test('says what is wrong with a flag and what to type instead', async () => {
    const cases: [string[], RegExp][] = [
      [['frobnicate'], /unknown command `frobnicate`\n.*--help/],
      [['serve', '--frobnicate'], /unknown option `--frobnicate`\n.*--help/],
      [['serve', 'now'], /unexpected argument `now`/],
      [['serve', '--listen'], /--listen needs a value/],
      [['serve', '--insecure=yes'], /--insecure takes no value/],
      [['serve', '--state-dir', 'a', '--state-dir', 'b'], /given twice/],
      [['serve', '--listen', 'ws://127.0.0.1:99999'], /invalid websocket --listen URL/],
      [['serve', '--listen', 'ws://999.0.0.1:0'], /invalid websocket --listen URL/],
      [['serve', '--listen', 'unix://relative'], /expected `unix:\/\/\/absolute\/path`/],
      [['serve', '--listen', 'stdio', '--listen', 'stdio'], /only once/],
      [['serve', '--listen', 'wss://127.0.0.1:0'], /wss:\/\/ needs --tls-cert and --tls-key/],
      [['serve', '--tls-cert', 'x'], /go together/],
      [['serve', '--tls-cert', '/no/such', '--tls-key', '/no/such'], /--tls-cert \/no\/such: /],
      [['serve', '--detached-ttl', 'soon'], /expected a duration such as 30s/],
      [['serve', '--detached-ttl', '0s'], /expected a duration/],
      [['serve', '--receipt-ttl', '400d'], /say forever/],
      [['serve', '--log-quota', '1KiB'], /at least 1MiB/],
      [['serve', '--log-disk', 'much'], /expected a size such as/],
      [['serve', '--concurrent-requests', '0'], /expected a number from 1/],
      [['serve', '--ws-auth', 'capability-token'], /`--ws-token-file` or `--ws-token-sha256` is required/],
      [['serve', '--ws-auth', 'signed-bearer-token'], /`--ws-shared-secret-file` is required/],
      [['serve', '--ws-auth', 'none'], /expected capability-token or signed-bearer-token/],
      [['serve', '--ws-issuer', 'x'], /websocket auth flags require `--ws-auth/],
      [['serve', '--ws-auth', 'capability-token', '--ws-token-sha256', 'abc'], /64-character hex/],
      [
        ['serve', '--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64), '--listen', 'stdio'],
        /not stdio/,
      ],
      [
        ['serve', '--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64), '--ws-issuer', 'x'],
        /does not go with/,
      ],
      [['serve', '--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', '/dev/null'], /at least 32 bytes/],
    ]
    const results = await Promise.all(cases.map(([args]) => waldo(...args)))
    for (const [index, [args, message]] of cases.entries()) {
      const { code, stdout, stderr } = results[index]!
      assert.deepEqual([code, stdout], [1, ''], args.join(' '))
      assert.match(stderr, /^Error: /)
      assert.match(stderr, message)
    }
  })

  test('durations and forever are understood', async () => {
    for (const ttl of ['30s', '12h', '1.5h', 'forever']) {
      await using server = await startServer({ args: ['--detached-ttl', ttl, '--receipt-ttl', ttl] })
      await using client = await RawClient.connect(server.url)
      assert.equal((await client.run('echo ok')).stdout, 'ok\n')
    }
  })
})
