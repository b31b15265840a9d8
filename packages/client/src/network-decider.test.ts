import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ManagedNetwork, NetworkRequest, NetworkVerdict } from '@waldo/environment'
import { NetworkDecider } from './network-decider.ts'

const REQUEST: NetworkRequest = { protocol: 'https_connect', host: 'example.test', port: 443 }

const decider = (decide: NonNullable<ManagedNetwork['decide']>, decideTimeoutMs?: number) =>
  new NetworkDecider({ decide, decideTimeoutMs })
const ask = (asked: NetworkDecider, request: object | undefined = REQUEST, signal = new AbortController().signal) =>
  asked.decide(request, signal)

describe('whoever decides about a network', () => {
  test('is told what is wanted, and nothing else, and is obeyed', async () => {
    const seen: NetworkRequest[] = []
    const allowing = decider((request) => {
      seen.push(request)
      return 'allow'
    })
    assert.deepEqual(await ask(allowing, { ...REQUEST, more: 1 }), { type: 'allow' })
    assert.deepEqual(seen, [REQUEST])
    const denying = decider(async () => ({ deny: 'because' }))
    assert.deepEqual(await ask(denying), { type: 'deny', reason: 'because' })
  })

  test('says no by saying anything but a clear yes', async () => {
    for (const verdict of [undefined, null, true, 'yes', 'ALLOW', ['allow'], { allow: true }, { deny: 7 }, {}]) {
      const unclear = decider(() => verdict as NetworkVerdict)
      assert.deepEqual(await ask(unclear), { type: 'deny', reason: 'not_allowed' }, JSON.stringify(verdict))
    }
  })

  test('says no by throwing, at once or later, and the process does not learn what', async () => {
    const secret = new Error('the password is wrong')
    const throwing = decider(() => {
      throw secret
    })
    for (const failing of [throwing, decider(() => Promise.reject(secret))]) {
      assert.deepEqual(await ask(failing), { type: 'deny', reason: 'decision_failed' })
    }
  })

  test('says no by taking too long, and is told that nobody waits any more', async () => {
    let told: AbortSignal | undefined
    const slow = decider((_, signal) => {
      told = signal
      return new Promise(() => {})
    }, 20)
    assert.deepEqual(await ask(slow), { type: 'deny', reason: 'decision_timeout' })
    assert.match(String(told?.reason), /took too long/)
  })

  test('is told when the connection or the process has ended', async () => {
    const reasons: string[] = []
    const waiting = decider((_, signal) => {
      signal.addEventListener('abort', () => reasons.push(String(signal.reason)))
      return new Promise(() => {})
    })
    const connection = new AbortController()
    const first = ask(waiting, REQUEST, connection.signal)
    const second = ask(waiting)
    connection.abort(new Error('cut'))
    assert.deepEqual(await first, { type: 'deny', reason: 'decision_timeout' })
    waiting.close()
    await second
    assert.deepEqual(reasons, ['Error: cut', 'Error: the process has ended'])
  })

  test('is not asked about what no process can have wanted', async () => {
    let asked = 0
    const counting = decider(() => {
      asked++
      return 'allow'
    })
    const hosts = ['', 'a b', 'a\u0007', 'a\n', 'x'.repeat(254), 7, null, undefined]
    const ports = [-1, 65_536, 1.5, '80', null, undefined]
    const requests = [
      undefined,
      {},
      ...hosts.map((host) => ({ ...REQUEST, host })),
      ...ports.map((port) => ({ ...REQUEST, port })),
      { ...REQUEST, protocol: 1 },
    ]
    for (const request of requests) {
      assert.equal((await counting.decide(request as NetworkRequest, new AbortController().signal)).type, 'deny')
    }
    assert.equal(asked, 0)
  })
})
