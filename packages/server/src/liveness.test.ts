import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Link } from './link.ts'
import { Liveness } from './liveness.ts'
import type { Wire } from './wire.ts'

function setUp(canPing = true) {
  const clock = { now: 0 }
  const pings: string[] = []
  const wire: Wire = {
    peer: 'test',
    name: 'test',
    queuedBytes: 0,
    canPing,
    send() {},
    ping: (token) => void pings.push(token),
    batch: (sends) => sends(),
    pauseReading() {},
    resumeReading() {},
    close() {},
    terminate() {},
  }
  const link = new Link(wire, () => clock.now)
  return { clock, pings, link, liveness: new Liveness(link, () => clock.now) }
}

describe('whether anybody is there', () => {
  test('a silent client is pinged after 15 s and dead 10 s later', () => {
    const { clock, pings, liveness } = setUp()
    clock.now = 14_999
    assert.deepEqual([liveness.isDead(), pings.length], [false, 0])
    clock.now = 15_000
    assert.deepEqual([liveness.isDead(), pings.length], [false, 1])
    clock.now = 25_000
    assert.equal(liveness.isDead(), false)
    clock.now = 25_001
    assert.equal(liveness.isDead(), true)
  })

  test('anything it sends counts as an answer', () => {
    const { clock, pings, liveness } = setUp()
    clock.now = 15_000
    liveness.isDead()
    clock.now = 24_000
    liveness.heard()
    clock.now = 38_999
    assert.deepEqual([liveness.isDead(), pings.length], [false, 1])
    clock.now = 39_000
    assert.deepEqual([liveness.isDead(), pings.length], [false, 2])
  })

  test('what is still under way to it has to arrive first', () => {
    const { clock, link, liveness } = setUp()
    link.send('x'.repeat(640_000))
    clock.now = 15_000
    liveness.isDead()
    clock.now = 30_000
    assert.equal(liveness.isDead(), false)
    clock.now = 36_000
    assert.equal(liveness.isDead(), true)
  })

  test('a transport without pings is trusted', async () => {
    const { clock, liveness } = setUp(false)
    clock.now = 1e9
    assert.equal(liveness.isDead(), false)
    assert.equal(await liveness.probe(), true)
  })

  test('a probe is answered by whatever comes, or by silence', async () => {
    const { liveness, pings } = setUp()
    const alive = liveness.probe()
    assert.equal(pings.length, 1)
    liveness.heard()
    assert.equal(await alive, true)
    assert.equal(await liveness.probe(), false)
  })
})
