import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, processesWith, RawClient, startProxy, startServer, type TestServer } from '@waldo/testkit'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** Tries until the session can be had, as a client does whose old connection may still count. */
async function resume(url: string, sessionId: string): Promise<RawClient> {
  for (let tries = 0; ; tries++) {
    const client = await RawClient.open(url)
    try {
      await client.initialize(sessionId)
      return client
    } catch (error) {
      client.drop()
      if (tries > 50) throw error
      await Bun.sleep(10)
    }
  }
}

describe('a lost connection', () => {
  test('costs nothing: processes run on, and everything they said is there', async () => {
    const first = await RawClient.connect(server.url)
    const id = await first.start(['sh', '-c', 'echo one; read line; echo "got $line"; exit 4'], { pipeStdin: true })
    await first.untilOutput(id, 'one')
    first.drop()
    const second = await resume(server.url, first.sessionId)
    assert.equal(second.sessionId, first.sessionId)
    await second.write(id, 'two\n')
    await second.untilClosed(id)
    assert.deepEqual([second.observed(id).stdout, second.observed(id).exitCode], ['got two\n', 4])
    second.drop()
    await using third = await resume(server.url, first.sessionId)
    const { chunks, exitCode, closed } = await third.call('process/read', { processId: id })
    const text = chunks.map(({ chunk }: { chunk: string }) => Buffer.from(chunk, 'base64').toString()).join('')
    assert.deepEqual([text, exitCode, closed], ['one\ngot two\n', 4, true])
  })

  test('a write whose answer was lost is done once', async () => {
    await using proxy = await startProxy(server.url)
    const first = await RawClient.connect(proxy.url)
    const id = await first.start(['cat'], { pipeStdin: true })
    const lost = first.write(id, 'once\n', 'the-write').catch(() => 'lost')
    await first.untilOutput(id, 'once')
    proxy.cut()
    await lost
    await using second = await resume(server.url, first.sessionId)
    assert.deepEqual(await second.write(id, 'once\n', 'the-write'), { status: 'accepted' })
    assert.deepEqual(await second.write(id, 'more\n', 'another'), { status: 'accepted' })
    await second.untilOutput(id, 'more')
    const { chunks } = await second.call('process/read', { processId: id })
    const text = chunks.map(({ chunk }: { chunk: string }) => Buffer.from(chunk, 'base64').toString()).join('')
    assert.equal(text, 'once\nmore\n')
  })

  test('what is new waits until the client has read what it missed', async () => {
    const first = await RawClient.connect(server.url)
    const id = await first.start(['sh', '-c', 'while :; do head -c 300000 /dev/zero; sleep 0.01; done'])
    await first.until(() => first.observed(id).stdout.length > 1e6, 'some output')
    const last = first.observed(id).seqs.at(-1)!
    first.drop()
    await Bun.sleep(50)
    await using second = await resume(server.url, first.sessionId)
    // A client that has to keep what comes too early can keep only so much.
    await Bun.sleep(100)
    assert.deepEqual(second.observed(id).seqs, [])
    const { nextSeq, chunks } = await second.call('process/read', { processId: id, afterSeq: last })
    assert.equal(chunks[0].seq, last + 1)
    await second.until(() => second.observed(id).seqs.length > 3, 'live output')
    assert.equal(second.observed(id).seqs[0], nextSeq, 'the first notification follows the last chunk that was read')
    await second.call('process/terminate', { processId: id })
  })

  test('a client that does not ask for what it missed gets what is new all the same', async () => {
    const first = await RawClient.connect(server.url)
    const id = await first.start(['sh', '-c', 'sleep 0.3; echo later; sleep 60'])
    first.drop()
    await using second = await resume(server.url, first.sessionId)
    await second.untilOutput(id, 'later')
    await second.call('process/terminate', { processId: id })
  })

  test('8 MiB and more are there on resume', async () => {
    const first = await RawClient.connect(server.url)
    const id = await first.start(['sh', '-c', 'sleep 0.1; seq 1 3000000; sleep 60'])
    first.drop()
    await using second = await resume(server.url, first.sessionId)
    const expected = Array.from({ length: 3_000_000 }, (_, i) => `${i + 1}\n`).join('')
    let text = ''
    for (let afterSeq = 0; text.length < expected.length; ) {
      const page = await second.call('process/read', { processId: id, afterSeq, maxBytes: 1 << 20, waitMs: 5000 })
      assert.ok(page.chunks.length > 0)
      for (const { chunk } of page.chunks) text += Buffer.from(chunk, 'base64').toString('latin1')
      afterSeq = page.nextSeq - 1
    }
    assert.ok(text === expected)
    await second.call('process/terminate', { processId: id })
  })
})

describe('whose session it is', () => {
  test('a session that somebody uses is not taken from them', async () => {
    await using holder = await RawClient.connect(server.url)
    await using other = await RawClient.open(server.url)
    const error = await other.failure('initialize', { clientName: 'x', resumeSessionId: holder.sessionId })
    assert.equal(error.code, -32010)
    assert.deepEqual(await holder.call('environment/status'), { status: 'ready' })
    // A failed initialize does not count.
    await other.initialize()
  })

  test('one whose holder is dead is handed over at once', { timeout: 30_000 }, async () => {
    await using proxy = await startProxy(server.url)
    await using holder = await RawClient.connect(proxy.url)
    const id = await holder.start(['sleep', '60'])
    proxy.freeze()
    await using other = await RawClient.open(server.url)
    const before = performance.now()
    await other.initialize(holder.sessionId)
    assert.ok(performance.now() - before < 5000)
    assert.deepEqual(await other.call('process/terminate', { processId: id }), { running: true })
    await other.untilClosed(id)
  })

  test('an unknown session is an error that names it', async () => {
    await using client = await RawClient.open(server.url)
    const error = await client.failure('initialize', { clientName: 'x', resumeSessionId: 'nope' })
    assert.deepEqual(error, { code: -32600, message: 'unknown session id nope' })
  })

  test('processes of one session are none of another', async () => {
    await using one = await RawClient.connect(server.url)
    await using two = await RawClient.connect(server.url)
    const id = await one.start(['sleep', '60'])
    assert.equal((await two.failure('process/read', { processId: id })).code, -32600)
    assert.deepEqual(await two.call('process/terminate', { processId: id }), { running: false })
    assert.deepEqual((await two.call('process/list')).processes, [])
    assert.deepEqual(await one.call('process/terminate', { processId: id }), { running: true })
  })
})

describe('the end of a session', () => {
  test('comes when nobody returns in time, and takes the processes with it', async () => {
    await using brief = await startServer({ args: ['--detached-ttl', '1s'] })
    const client = await RawClient.connect(brief.url)
    await client.start(['sleep', '7771'])
    client.drop()
    await Bun.sleep(500)
    const back = await resume(brief.url, client.sessionId)
    back.drop()
    await Bun.sleep(700)
    assert.equal(processesWith('sleep 7771').length, 1)
    await eventually(() => processesWith('sleep 7771').length === 0, 'the process to end')
    await using late = await RawClient.open(brief.url)
    const error = await late.failure('initialize', { clientName: 'x', resumeSessionId: client.sessionId })
    assert.match(error.message, /unknown session id/)
  })

  test('can be asked for', async () => {
    const client = await RawClient.connect(server.url)
    await client.start(['sh', '-c', 'sleep 7772 & sleep 7772'])
    await client.start(['sh', '-c', 'sleep 7772 >/dev/null 2>&1 & exit 0'])
    await eventually(() => processesWith('sleep 7772').length >= 3, 'the processes')
    assert.deepEqual(await client.call('session/end'), {})
    assert.equal((await client.untilDisconnected()).code, 1000)
    await eventually(
      () => processesWith('sleep 7772').length === 0,
      'everything to end, what ran in the background too',
    )
    await using late = await RawClient.open(server.url)
    assert.equal(
      (await late.failure('initialize', { clientName: 'x', resumeSessionId: client.sessionId })).code,
      -32600,
    )
  })
})

describe('a connection that has gone silent', () => {
  // Takes the real deadlines: 15 s until the ping, 10 s for the answer.
  test('is dropped, and its session can be resumed without asking twice', { timeout: 60_000 }, async () => {
    await using proxy = await startProxy(server.url)
    await using client = await RawClient.connect(proxy.url)
    const id = await client.start(['sh', '-c', 'sleep 100 & echo $!; wait'])
    await client.untilOutput(id, '\n')
    proxy.freeze()
    await Bun.sleep(28_000)
    await using other = await RawClient.open(server.url)
    const before = performance.now()
    await other.initialize(client.sessionId)
    assert.ok(performance.now() - before < 500, 'the old connection does not count any more')
    await other.call('process/terminate', { processId: id })
  })
})
