import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApprovalCache } from './approval-cache.ts'

const cacheOf = (keys: readonly unknown[]) => {
  const cache = new ApprovalCache()
  cache.add(keys)
  return cache
}

describe('what is allowed for a conversation', () => {
  test('covers any part of what was allowed, and nothing beside it', () => {
    const cache = cacheOf([{ path: '/a' }, { path: '/b' }])
    assert.equal(cache.covers([{ path: '/a' }]), true)
    assert.equal(cache.covers([{ path: '/b' }, { path: '/a' }]), true)
    assert.equal(cache.covers([{ path: '/a' }, { path: '/c' }]), false)
  })

  test('does not cover what has no key', () => {
    assert.equal(cacheOf([{ path: '/a' }]).covers([]), false)
  })

  test('is the same in whatever order it is written', () => {
    const cache = cacheOf([{ command: ['ls'], at: { cwd: '/a', tty: false, more: undefined } }])
    assert.equal(cache.covers([{ at: { tty: false, cwd: '/a' }, command: ['ls'] }]), true)
    assert.equal(cache.covers([{ at: { tty: false, cwd: '/a' }, command: ['ls', ''] }]), false)
  })

  test('forgets the oldest when there is too much of it', () => {
    const cache = cacheOf(Array.from({ length: 10_000 }, (_, index) => index))
    assert.equal(cache.covers([0]), true)
    cache.add([0, 'one more'])
    assert.deepEqual([cache.covers([1]), cache.covers([0]), cache.covers([2])], [false, true, true])
  })

  test('holds scripts of any size, but not all of them', () => {
    const script = (letter: string) => letter.repeat(6 * 1024 * 1024)
    const cache = cacheOf([script('a'), script('b')])
    assert.equal(cache.covers([script('a'), script('b')]), true)
    cache.add([script('c')])
    assert.deepEqual([cache.covers([script('a')]), cache.covers([script('b'), script('c')])], [false, true])
    cache.add(['x'.repeat(17 * 1024 * 1024)])
    assert.equal(cache.covers([script('b'), script('c')]), true)
  })

  test('is refused where two different things would be one', () => {
    for (const key of [Number.NaN, undefined, new Date(0), new Map(), 1n, () => 1, { a: [new Date(0)] }]) {
      assert.throws(() => cacheOf([key]), TypeError)
    }
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    assert.throws(() => cacheOf([deep]), /nested deeper/)
  })

  test('covers exactly the sets whose every member was allowed', () => {
    const key = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(fc.array(key), fc.array(key, { minLength: 1 }), (allowed, wanted) => {
        // Once through JSON: minus zero is zero there, and so it is here.
        const text = (value: unknown) => JSON.stringify(sorted(value))
        const known = new Set(allowed.map(text))
        const cache = cacheOf(allowed)
        assert.equal(
          cache.covers(wanted),
          wanted.every((each) => known.has(text(each))),
        )
        if (allowed.length > 0) assert.equal(cache.covers(allowed.map(shuffled)), true)
      }),
    )
  })
})

/** With the members of every object in one order. */
function sorted(value: unknown): unknown {
  return rearranged(value, (names) => names.sort())
}

function shuffled(value: unknown): unknown {
  return rearranged(value, (names) => names.reverse())
}

function rearranged(value: unknown, arrange: (names: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => rearranged(item, arrange))
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, unknown>
  return Object.fromEntries(arrange(Object.keys(members)).map((name) => [name, rearranged(members[name], arrange)]))
}
