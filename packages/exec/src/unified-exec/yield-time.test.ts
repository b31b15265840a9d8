import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type YieldRequest, yieldTime } from './yield-time.ts'

const wait = (kind: YieldRequest['kind'], requestedMs?: number, options: Partial<YieldRequest> = {}) =>
  yieldTime({ requestedMs, kind, hasCondition: false, maxPollMs: 300_000, ...options })

describe('the time that a call waits', () => {
  const cases: [YieldRequest['kind'], number | undefined, number][] = [
    ['command', undefined, 10_000],
    ['command', -5, 250],
    ['command', 0, 250],
    ['command', 249, 250],
    ['command', 250, 250],
    ['command', 30_000, 30_000],
    ['command', 30_001, 30_000],
    ['write', undefined, 250],
    ['write', 10, 250],
    ['write', 7000, 7000],
    ['write', 60_000, 30_000],
    ['poll', undefined, 5000],
    ['poll', 250, 5000],
    ['poll', 5000, 5000],
    ['poll', 299_999, 299_999],
    ['poll', 1e12, 300_000],
  ]
  for (const [kind, requested, ms] of cases) {
    test(`is ${ms} ms for a ${kind} that asks for ${requested ?? 'nothing'}`, () => {
      assert.equal(wait(kind, requested).ms, ms)
    })
  }

  test('of a poll is what the harness allows, but never less than five seconds', () => {
    assert.equal(wait('poll', 1e9, { maxPollMs: 60_000 }).ms, 60_000)
    assert.equal(wait('poll', 1e9, { maxPollMs: 10 }).ms, 5000)
    assert.equal(wait('poll', undefined, { maxPollMs: 10 }).ms, 5000)
  })

  test('is as long as it may be for a call that says what it waits for', () => {
    for (const kind of ['command', 'write', 'poll'] as const) {
      assert.equal(wait(kind, undefined, { hasCondition: true }).ms, 300_000)
      assert.equal(wait(kind, 300, { hasCondition: true }).ms, 300)
      assert.equal(wait(kind, 1, { hasCondition: true }).ms, 250)
      assert.equal(wait(kind, 90_000, { hasCondition: true }).ms, 90_000)
    }
  })

  test('that is cut short is told, one that is made longer tells by itself', () => {
    assert.deepEqual(wait('command', 90_000).notes, ['Warning: yield_time_ms 90000 is out of range: 30000 was used'])
    assert.deepEqual(wait('command', 30_000).notes, [])
    assert.deepEqual(wait('poll', 1).notes, [])
    assert.deepEqual(wait('poll').notes, [])
  })

  test('can always be waited for by a timer', () => {
    const kind = fc.constantFrom('command' as const, 'write' as const, 'poll' as const)
    const number = fc.double({ noNaN: true })
    fc.assert(
      fc.property(kind, fc.option(number, { nil: undefined }), fc.boolean(), number, (kind, ms, has, maxPollMs) => {
        const waits = yieldTime({ requestedMs: ms, kind, hasCondition: has, maxPollMs })
        assert.ok(waits.ms >= 250 && waits.ms < 2 ** 31)
        assert.equal(waits.notes.length > 0, ms !== undefined && ms > waits.ms)
      }),
    )
  })
})
