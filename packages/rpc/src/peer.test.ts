import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallLimitError, ConnectionClosedError, Peer, type PeerEvents, RemoteError } from './peer.ts'

function connected(asked?: PeerEvents['asked']) {
  const sent: { id: number; method: string; result?: unknown; error?: { code: number; message: string } }[] = []
  const heard: string[] = []
  const peer = new Peer({
    notified: (method) => heard.push(method),
    closed: (reason) => heard.push(`closed: ${reason}`),
    ...(asked && { asked }),
  })
  peer.attach({ queuedBytes: 0, send: (text) => sent.push(JSON.parse(text)), close: async () => {} })
  const answer = (index: number, message: object) => peer.received(JSON.stringify({ id: sent[index]?.id, ...message }))
  return { peer, sent, heard, answer }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a peer', () => {
  test('matches answers with calls, in whatever order they come', async () => {
    const { peer, answer } = connected()
    const calls = [peer.call('a', {}), peer.call('b', {}), peer.call('c', {})]
    answer(2, { result: 'c' })
    answer(0, { result: null })
    answer(1, { error: { code: -5, message: 'no' } })
    assert.equal(await calls[2], 'c')
    assert.equal(await calls[0], null)
    await assert.rejects(calls[1]!, (error) => error instanceof RemoteError && error.code === -5)
  })

  test('hands on notifications, refuses requests, and ignores answers to nothing', () => {
    const { peer, sent, heard } = connected()
    peer.received('{"method":"news","params":{}}')
    peer.received('{"id":7,"method":"ask"}')
    peer.received('{"id":99,"result":1}')
    peer.received('{"id":{"odd":1},"error":null}')
    assert.deepEqual(heard, ['news'])
    assert.equal(sent[0]?.error?.code, -32601)
  })

  test('answers questions when it can, in whatever order, and says when it cannot', async () => {
    const { peer, sent } = connected((method, params) => {
      if (method === 'sum') return Promise.resolve({ sum: (params as number[]).length })
      if (method === 'later') return settled().then(() => ({ late: true }))
      if (method === 'fail') return Promise.reject(new Error('no idea'))
      return method === 'unsayable' ? Promise.resolve({ large: 1n }) : undefined
    })
    peer.received('{"id":1,"method":"later"}')
    peer.received('{"id":"two","method":"sum","params":[1,2,3]}')
    peer.received('{"id":3,"method":"fail"}')
    peer.received('{"id":4,"method":"unknown"}')
    peer.received('{"id":5,"method":"unsayable"}')
    await settled()
    await settled()
    const said = sent.map(({ id, result, error }) => [id, result ?? error?.code])
    assert.deepEqual(
      said.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      [
        [1, { late: true }],
        [3, -32603],
        [4, -32601],
        [5, -32603],
        ['two', { sum: 3 }],
      ],
    )
    assert.equal(sent.find(({ id }) => id === 3)?.error?.message, 'no idea')
  })

  test('answers 256 questions at a time, and none any more when the connection has ended', async () => {
    const signals: AbortSignal[] = []
    const { peer, sent } = connected((_, __, signal) => {
      signals.push(signal)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})))
    })
    for (let id = 1; id <= 257; id++) peer.received(`{"id":${id},"method":"ask"}`)
    assert.deepEqual([signals.length, sent.map(({ id, error }) => [id, error?.code])], [256, [[257, -32603]]])
    peer.closed('cut')
    peer.received('{"id":258,"method":"ask"}')
    await settled()
    assert.ok(signals.every(({ aborted, reason }) => aborted && reason instanceof ConnectionClosedError))
    assert.deepEqual([signals.length, sent.length], [256, 1])
  })

  test('hands on what an error says besides', async () => {
    const { peer, answer } = connected()
    const call = peer.call('a', {})
    answer(0, { error: { code: -5, message: 'no', data: { kind: 'x' } } })
    await assert.rejects(call, (error) => error instanceof RemoteError && (error.data as { kind: string }).kind === 'x')
  })

  test('ends with whatever is no message', async () => {
    for (const text of ['', 'null', '7', '{', '"text"']) {
      const { peer, heard } = connected()
      const call = peer.call('a', {})
      peer.received(text)
      await assert.rejects(call, ConnectionClosedError)
      await assert.rejects(peer.call('b', {}), ConnectionClosedError)
      assert.equal(heard.length, 1)
      peer.closed('again')
      assert.equal(heard.length, 1)
    }
  })

  test('ends with a notification that its receiver cannot make sense of', async () => {
    const reasons: string[] = []
    const peer = new Peer({
      notified: () => {
        throw new Error('no number')
      },
      closed: (reason) => reasons.push(reason),
    })
    peer.received('{"method":"news"}')
    assert.match(reasons.join(), /news that makes no sense: no number/)
    await assert.rejects(peer.call('a', {}), ConnectionClosedError)
  })

  test('sends 1024 calls at a time; the others wait, and can stop waiting', async () => {
    const { peer, sent, answer } = connected()
    const controller = new AbortController()
    const calls = Array.from({ length: 1024 }, () => peer.call('a', {}))
    const given = peer.call('given up', {}, controller.signal)
    const next = peer.call('next', {})
    await settled()
    assert.equal(sent.length, 1024)
    controller.abort(new Error('enough'))
    await assert.rejects(given, /enough/)
    answer(0, { result: 0 })
    await calls[0]
    await settled()
    assert.deepEqual([sent.length, sent.at(-1)?.method], [1025, 'next'])
    peer.closed('cut')
    await assert.rejects(next, /cut/)
    await Promise.allSettled(calls)
  })

  test('forgets a call that was given up, and makes room for another', async () => {
    const { peer, sent, answer } = connected()
    const controller = new AbortController()
    const calls = Array.from({ length: 1024 }, () => peer.call('a', {}, controller.signal).catch(() => 'given up'))
    const waiting = peer.call('b', {})
    controller.abort()
    await Promise.all(calls)
    await settled()
    assert.equal(sent.at(-1)?.method, 'b')
    answer(3, { result: 'late' })
    answer(1024, { result: 'b' })
    assert.equal(await waiting, 'b')
  })

  test('does not send what nobody would take', async () => {
    const { peer, sent } = connected()
    await assert.rejects(peer.call('large', { text: 'x'.repeat(65 * 1024 * 1024) }), CallLimitError)
    assert.equal(sent.length, 0)
  })

  test('abandons what was asked so far and goes on', async () => {
    const { peer, answer } = connected()
    const before = peer.call('a', {})
    peer.abandon('leaving')
    await assert.rejects(before, /leaving/)
    const after = peer.call('b', {})
    answer(1, { result: 'b' })
    assert.equal(await after, 'b')
  })
})
