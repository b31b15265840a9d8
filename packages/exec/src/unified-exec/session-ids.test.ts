import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomIds, SessionIds } from './session-ids.ts'

describe('numbers of sessions', () => {
  test('are four or five digits, and never the same for two', () => {
    const ids = new SessionIds(randomIds)
    const given = Array.from({ length: 2000 }, () => ids.reserve())
    assert.equal(new Set(given).size, 2000)
    assert.ok(given.every((id) => id >= 1000 && id < 100_000))
  })

  test('can be given again once they are released', () => {
    const ids = new SessionIds((isTaken) => (isTaken(1) ? 2 : 1))
    assert.deepEqual([ids.reserve(), ids.reserve()], [1, 2])
    ids.release(1)
    ids.release(1)
    assert.equal(ids.reserve(), 1)
  })
})
