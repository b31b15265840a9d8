import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallLimitError, ConnectionClosedError, Peer, RemoteError } from './peer.ts'

function connected() {
  const sent: { id: number; method: string }[] = []
  const heard: string[] = []
  const peer = new Peer({
    notified: (method) => heard.push(method),
    closed: (reason) => heard.push(`closed: ${reason}`),
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
    assert.deepEqual((sent[0] as { error?: { code: number } }).error?.code, -32601)
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
