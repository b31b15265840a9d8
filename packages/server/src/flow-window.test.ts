import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { FlowWindow } from './flow-window.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** Sends as much as the window allows to a reader of a given speed, for a while of pretended time. */
function simulate(bytesPerMs: number, roundTripMs: number, ms: number) {
  let now = 0
  const window = new FlowWindow(() => now)
  // As a connection does when the client has shaken hands.
  const underWay = [{ token: window.mark(), readAt: roundTripMs }]
  let readerFreeAt = 0
  let delivered = 0
  let most = 0
  for (; now < ms; now += 0.05) {
    while (window.open) {
      window.sent(64 * KiB)
      readerFreeAt = Math.max(readerFreeAt, now + roundTripMs / 2) + (64 * KiB) / bytesPerMs
      if (readerFreeAt <= ms) delivered += 64 * KiB
      if (window.wantsMark) underWay.push({ token: window.mark(), readAt: readerFreeAt + roundTripMs / 2 })
    }
    // What has settled counts, not how the window found its size.
    if (now > ms / 2) most = Math.max(most, window.inFlightBytes)
    while (underWay[0] && underWay[0].readAt <= now) window.returned(underWay.shift()!.token)
  }
  return { most, rate: delivered / ms }
}

describe('the flow window', () => {
  test('keeps a fast near reader busy with little under way', () => {
    const { most, rate } = simulate(600 * KiB, 0.2, 500)
    assert.ok(rate > 500 * KiB, `${(rate / KiB).toFixed(0)} KiB/ms`)
    assert.ok(most < 3 * MiB, `${(most / MiB).toFixed(1)} MiB`)
  })

  test('opens for a reader that is far away', () => {
    const { rate } = simulate(50 * KiB, 80, 5000)
    assert.ok(rate > 35 * KiB, `${(rate / KiB).toFixed(0)} KiB/ms`)
  })

  test('keeps little under way to a slow one', () => {
    const { most } = simulate(1 * KiB, 20, 20_000)
    assert.ok(most < 400 * KiB, `${(most / KiB).toFixed(0)} KiB`)
  })

  // A window that shrank below what was under way once waited for a ping that nobody had sent.
  test('never closes without a ping under way that will open it again', () => {
    const step = fc.record({
      ms: fc.double({ min: 0, max: 50, noNaN: true }),
      bytes: fc.integer({ min: 1, max: 300 * KiB }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let now = 0
        const window = new FlowWindow(() => now)
        const underWay: string[] = []
        const markIfDue = () => {
          if (window.wantsMark) underWay.push(window.mark())
        }
        for (const { ms, bytes } of steps) {
          now += ms
          if (window.open) window.sent(bytes)
          else {
            assert.ok(underWay.length > 0)
            window.returned(underWay.shift()!)
          }
          markIfDue()
        }
      }),
    )
  })

  test('ignores pongs that answer nothing', () => {
    const window = new FlowWindow()
    window.sent(MiB)
    window.mark()
    window.returned('w99')
    window.returned('')
    assert.equal(window.inFlightBytes, MiB)
  })

  test('gives up on a reader that never returns a ping, but only for a window at a time', () => {
    let now = 0
    const window = new FlowWindow(() => now)
    while (window.open) {
      window.sent(64 * KiB)
      if (window.wantsMark) window.mark()
    }
    now += 500
    assert.equal(window.open, false)
    now += 600
    assert.equal(window.open, true)
    while (window.open) {
      window.sent(64 * KiB)
      if (window.wantsMark) window.mark()
    }
    assert.ok(window.inFlightBytes <= window.bytes + 64 * KiB)
  })

  test('waits for one that has returned pings before: it has only stopped reading', () => {
    let now = 0
    const window = new FlowWindow(() => now)
    window.returned(window.mark())
    while (window.open) {
      window.sent(64 * KiB)
      if (window.wantsMark) window.mark()
    }
    now += 60_000
    assert.equal(window.open, false)
  })
})
