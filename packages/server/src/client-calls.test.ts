import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { ClientCalls } from './client-calls.ts'

const sent: { id?: number; method: string; params: object }[] = []
let queuedBytes = 0
let calls: ClientCalls
beforeEach(() => {
  sent.length = 0
  queuedBytes = 0
  calls = new ClientCalls({
    get queuedBytes() {
      return queuedBytes
    },
    send: (text) => sent.push(JSON.parse(text)),
  })
})
const never = () => new AbortController().signal
const idOf = (index: number) => String(sent[index]!.id)

describe('a question to a client', () => {
  test('is sent with a number of its own, and answered by it in any order', async () => {
    const answers = [calls.ask('a/b', { x: 1 }, never()), calls.ask('c/d', { y: '"\n' }, never())]
    assert.deepEqual(sent, [
      { id: 1, method: 'a/b', params: { x: 1 } },
      { id: 2, method: 'c/d', params: { y: '"\n' } },
    ])
    assert.equal(calls.answered({ id: idOf(1), result: 'second' }), true)
    assert.equal(calls.answered({ id: idOf(0), result: null }), true)
    assert.deepEqual(await Promise.all(answers), [null, 'second'])
  })

  test('may be refused', async () => {
    const answer = calls.ask('a/b', {}, never())
    calls.answered({ id: idOf(0), error: { message: 'not now' } })
    await assert.rejects(answer, /^Error: not now$/)
  })

  test('is given up when nobody waits any more; an answer that comes later is in vain', async () => {
    const controller = new AbortController()
    const answer = calls.ask('a/b', {}, controller.signal)
    controller.abort()
    await assert.rejects(answer, /nobody waits/)
    assert.equal(calls.answered({ id: idOf(0), result: {} }), true)
  })

  test('is not sent at all if nobody waits for the answer', async () => {
    await assert.rejects(calls.ask('a/b', {}, AbortSignal.abort()), /nobody waits/)
    assert.deepEqual(sent, [])
  })

  test('is one of a limited number, each of which makes room when it ends', async () => {
    const controller = new AbortController()
    const open = Array.from({ length: 255 }, () => calls.ask('a/b', {}, never()))
    const last = calls.ask('a/b', {}, controller.signal)
    await assert.rejects(calls.ask('a/b', {}, never()), /256 questions are open/)
    assert.equal(sent.length, 256)
    controller.abort()
    await assert.rejects(last)
    open.push(calls.ask('a/b', {}, never()))
    await assert.rejects(calls.ask('a/b', {}, never()), /256 questions are open/)
    calls.close()
    for (const each of open) await assert.rejects(each, /the client is gone/)
  })

  test('ends with the connection, and none can be asked after it', async () => {
    const answer = calls.ask('a/b', {}, never())
    calls.close()
    await assert.rejects(answer, /the client is gone/)
    await assert.rejects(calls.ask('a/b', {}, never()), /the client is gone/)
    assert.equal(sent.length, 1)
  })

  test('leaves nothing behind on a signal that outlives it', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    const answers = [calls.ask('a', {}, signal), calls.ask('b', {}, signal), calls.ask('c', {}, signal)]
    calls.answered({ id: idOf(0), result: 1 })
    calls.answered({ id: idOf(1), error: { message: 'no' } })
    calls.close()
    await Promise.allSettled(answers)
    assert.equal(listeners, 0)
  })
})

describe('an answer of a client', () => {
  test('to what was never asked is known as that', () => {
    void calls.ask('a/b', {}, never())
    for (const id of ['0', '2', '-1', '1.5', '"1"', '', 'null']) {
      assert.equal(calls.answered({ id, result: {} }), false, id)
    }
  })

  test('counts once', async () => {
    const answer = calls.ask('a/b', {}, never())
    for (const result of ['first', 'second']) assert.equal(calls.answered({ id: '1', result }), true)
    assert.equal(await answer, 'first')
  })
})

describe('what a client can do without', () => {
  test('is told, unless it has too much to read already, or is gone', () => {
    calls.mention('a/b', { x: 1 })
    assert.deepEqual(sent, [{ method: 'a/b', params: { x: 1 } }])
    queuedBytes = 1024 * 1024 + 1
    calls.mention('a/b', { x: 2 })
    queuedBytes = 0
    calls.close()
    calls.mention('a/b', { x: 3 })
    assert.equal(sent.length, 1)
  })
})
