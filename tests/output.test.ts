import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import {
  eventually,
  memoryOf,
  processesWith,
  RawClient,
  startProxy,
  startServer,
  type TestServer,
} from '@waldo/testkit'

const MiB = 1024 * 1024
let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

interface Chunk {
  seq: number
  stream: string
  chunk: string
}
const bytesOf = (chunks: Chunk[]) => chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, 'base64').length, 0)
const logFiles = (of: TestServer) =>
  readdirSync(of.stateDir, { recursive: true }).filter((name) => String(name).endsWith('.log'))

describe('process/read', () => {
  test('a long poll holds up nothing else, and wakes when something happens', async () => {
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['sh', '-c', 'sleep 0.3; echo hi; sleep 60'])
    const poll = client.call('process/read', { processId: id, waitMs: 60_000 })
    assert.deepEqual(await client.call('environment/status'), { status: 'ready' })
    const { chunks, nextSeq } = await poll
    assert.deepEqual([chunks.length, nextSeq], [1, 2])
    const second = client.call('process/read', { processId: id, afterSeq: 1, waitMs: 2 ** 53 })
    assert.deepEqual(await client.call('process/terminate', { processId: id }), { running: true })
    assert.equal((await second).exited, true)
  })

  test('waits as long as it was told to and no longer', async () => {
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['sleep', '60'])
    const before = performance.now()
    const result = await client.call('process/read', { processId: id, waitMs: 200 })
    assert.ok(performance.now() - before >= 195)
    assert.deepEqual([result.chunks, result.exited, result.closed], [[], false, false])
  })

  test('pages through everything, byte for byte, from memory and from disk', async () => {
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['sh', '-c', 'seq 1 1000000'])
    await client.untilClosed(id)
    assert.ok(logFiles(server).length > 0)
    const expected = Array.from({ length: 1_000_000 }, (_, i) => `${i + 1}\n`).join('')
    for (const maxBytes of [100_000, 3 * MiB]) {
      let text = ''
      for (let afterSeq = 0, closed = false; !closed; ) {
        const page = await client.call('process/read', { processId: id, afterSeq, maxBytes })
        text += page.chunks.map(({ chunk }: Chunk) => Buffer.from(chunk, 'base64').toString('latin1')).join('')
        afterSeq = page.nextSeq - 1
        closed = page.chunks.length === 0
      }
      assert.ok(text === expected)
    }
    assert.ok(client.observed(id).stdout === expected)
  })

  test('an answer is never too large: without maxBytes the rest follows as notifications', async () => {
    const first = await RawClient.connect(server.url)
    const id = await first.start(['sh', '-c', 'sleep 0.2; head -c 20000000 /dev/zero; echo end; exit 6'])
    first.drop()
    await Bun.sleep(800)
    await using client = await RawClient.connect(server.url, { resume: first.sessionId })
    const answer = await client.call('process/read', { processId: id, waitMs: 0 })
    const got = bytesOf(answer.chunks)
    assert.ok(got > 4 * MiB && got <= 8 * MiB, `${got} bytes`)
    // It tells how things were at the last chunk: a client that takes it for everything is not misled.
    assert.deepEqual([answer.nextSeq, answer.exited, answer.closed], [answer.chunks.at(-1).seq + 1, false, false])
    await client.untilClosed(id)
    const seen = client.observed(id)
    assert.deepEqual([got + seen.stdout.length, seen.exitCode], [20_000_004, 6])
    assert.deepEqual(
      seen.seqs,
      seen.seqs.map((_, index) => answer.nextSeq + index),
    )
  })
})

describe('a client that does not read', () => {
  test('stalls nobody, and finds everything when it reads again', async () => {
    await using proxy = await startProxy(server.url)
    await using lazy = await RawClient.connect(proxy.url)
    await using other = await RawClient.connect(server.url)
    const id = await lazy.start(['sh', '-c', 'sleep 0.1; seq 1 5000000; exit 8'])
    proxy.freeze()
    // The child runs to its end meanwhile, and so do others.
    await eventually(() => processesWith('seq 1 5000000').length === 0, 'the child to end')
    assert.equal((await other.run('echo there')).stdout, 'there\n')
    proxy.thaw()
    await lazy.untilClosed(id)
    const { stdout, seqs, exitCode } = lazy.observed(id)
    assert.ok(stdout === Array.from({ length: 5_000_000 }, (_, i) => `${i + 1}\n`).join(''))
    assert.equal(exitCode, 8)
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    )
  })

  test('200 floods to clients that do not read: memory stays small, no child is stalled by another', async () => {
    await using flooded = await startServer({ args: ['--log-disk', '512MiB', '--log-quota', '32MiB'] })
    const socket = await deafClient(flooded.url)
    for (let i = 0; i < 200; i++) {
      const params = {
        processId: `f${i}`,
        argv: ['head', '-c', String(24 * MiB), '/dev/zero'],
        cwd: 'file:///',
        env: { PATH: '/bin:/usr/bin' },
        tty: i % 20 === 0,
      }
      socket.send({ id: 10 + i, method: 'process/start', params })
    }
    await using watcher = await RawClient.connect(flooded.url)
    let most = 0
    const started = performance.now()
    while (performance.now() - started < 8000) {
      most = Math.max(most, memoryOf(flooded.pid))
      const before = performance.now()
      assert.equal((await watcher.run('echo alive')).stdout, 'alive\n')
      assert.ok(performance.now() - before < 5000)
      await Bun.sleep(100)
    }
    // Of the 4.8 GB that are said. How soon memory is given back depends on how busy the machine is.
    assert.ok(most < 800, `${most.toFixed(0)} MiB`)
    socket.end()
  })
})

describe('past the quota', () => {
  test('the oldest output goes, counted, and sequence numbers have no gap', async () => {
    await using small = await startServer({ args: ['--log-quota', '2MiB'] })
    const first = await RawClient.connect(small.url)
    const id = await first.start(['sh', '-c', 'sleep 0.2; head -c 12000000 /dev/zero | tr "\\0" x; sleep 60'])
    first.drop()
    await using client = await RawClient.connect(small.url, { resume: first.sessionId })
    await eventuallyOutput(client, id, 12_000_000)
    const answer = await client.call('process/read', { processId: id })
    assert.deepEqual(
      answer.chunks.map(({ seq }: Chunk) => seq),
      answer.chunks.map((_: Chunk, index: number) => index + 1),
    )
    assert.equal(bytesOf(answer.chunks) + answer.droppedBytes, 12_000_000)
    const [{ bytes }] = (await client.call('process/list')).processes
    assert.deepEqual(bytes, { output: 12_000_000, dropped: answer.droppedBytes, stdin: 0 })
    await client.call('process/terminate', { processId: id })
  })

  async function eventuallyOutput(client: RawClient, id: string, bytes: number): Promise<void> {
    for (let i = 0; i < 300; i++) {
      const { processes } = await client.call('process/list')
      if (processes.find((p: { processId: string }) => p.processId === id).bytes.output === bytes) return
      await Bun.sleep(20)
    }
    assert.fail('the output does not come')
  }
})

describe('what is kept', () => {
  test('of an ended process stays until its receipt expires, and then the file is gone too', async () => {
    await using brief = await startServer({ args: ['--receipt-ttl', '1s'] })
    await using client = await RawClient.connect(brief.url)
    const id = await client.start(['head', '-c', String(4 * MiB), '/dev/zero'])
    await client.untilClosed(id)
    assert.equal(bytesOf((await client.call('process/read', { processId: id })).chunks), 4 * MiB)
    assert.equal(logFiles(brief).length, 1)
    await eventually(() => logFiles(brief).length === 0, 'the file to go')
    assert.match((await client.failure('process/read', { processId: id })).message, /unknown process id/)
    assert.deepEqual((await client.call('process/list')).processes, [])
  })

  test('where there is no place for files, what fits in memory; the rest is counted', async () => {
    await using homeless = await startServer({ stateDir: '/proc/no/such/place' })
    await using client = await RawClient.connect(homeless.url)
    const id = await client.start(['head', '-c', String(16 * MiB), '/dev/zero'])
    await client.untilClosed(id)
    const { droppedBytes, stdout } = client.observed(id)
    assert.equal(droppedBytes + stdout.length, 16 * MiB)
    await eventually(() => /output is being dropped/.test(homeless.stderr()), 'a warning')
  })
})

/** A client on a raw socket that shakes hands and then never reads. */
async function deafClient(url: string): Promise<{ send(message: object): void; end(): void }> {
  const { hostname, port } = new URL(url)
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } })
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  await Bun.sleep(100)
  socket.pause()
  const send = (message: object) => {
    const payload = Buffer.from(JSON.stringify(message))
    const header =
      payload.length < 126 ? [0x81, 0x80 | payload.length] : [0x81, 0xfe, payload.length >> 8, payload.length & 255]
    socket.write(Buffer.concat([Buffer.from([...header, 0, 0, 0, 0]), payload]))
  }
  send({ id: 1, method: 'initialize', params: { clientName: 'deaf' } })
  send({ method: 'initialized' })
  return { send, end: () => socket.terminate() }
}

describe('a process that waits for its reader', () => {
  test('loses nothing, however slowly it is read', async () => {
    await using server = await startServer({ args: ['--log-quota', '64MiB'] })
    await using client = await RawClient.connect(server.url)
    const size = 200_000_000
    const id = await client.start(['head', '-c', `${size}`, '/dev/zero'], { push: false, whenFull: 'wait' })
    await Bun.sleep(500)
    const [summary] = (await client.call('process/list', { processId: id })).processes
    assert.ok(summary.bytes.output < 64 * 1024 * 1024 && summary.state === 'running')
    let [afterSeq, bytes, closed] = [0, 0, false]
    while (!closed) {
      const page = await client.call('process/read', { processId: id, afterSeq, maxBytes: 4_000_000, waitMs: 1000 })
      for (const { chunk } of page.chunks) bytes += Buffer.from(chunk, 'base64').length
      closed = page.closed && page.chunks.length === 0
      afterSeq = page.nextSeq - 1
    }
    assert.equal(bytes, size)
  })

  test('can be ended though nobody reads', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['cat', '/dev/zero'], { push: false, whenFull: 'wait' })
    await Bun.sleep(1000)
    await client.call('process/terminate', { processId: id })
    const end = { processId: id, afterSeq: Number.MAX_SAFE_INTEGER, maxBytes: 1, waitMs: 10_000 }
    assert.equal((await client.call('process/read', end)).closed, true)
    const params = { processId: 'x', argv: ['true'], cwd: 'file:///', env: {}, whenFull: 'wait' }
    for (const more of [{ tty: false }, { tty: true, push: false }]) {
      assert.equal((await client.failure('process/start', { ...params, ...more })).code, -32602)
    }
  })
})

describe('a terminal whose reader stalls now and then', () => {
  test('loses nothing', async () => {
    await using server = await startServer()
    const lines = 200_000
    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\r\n`).join('')
    for (let round = 0; round < 3; round++) {
      await using client = await RawClient.connect(server.url)
      const id = await client.start(['seq', `${lines}`], { tty: true })
      const stalling = setInterval(() => {
        client.pauseReading()
        setTimeout(() => client.resumeReading(), 30)
      }, 80)
      await client.untilClosed(id).finally(() => clearInterval(stalling))
      assert.equal(client.observed(id).pty === expected, true)
    }
  })
})
