import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLazyDiff } from './lazy-diff.ts'

test('a diff is computed when somebody looks at it, and once', () => {
  let computed = 0
  const change = withLazyDiff({ name: 'f' }, () => `diff ${++computed}`)
  assert.equal(change.name, 'f')
  assert.equal(computed, 0)
  assert.deepEqual([change.diff, change.diff, computed], ['diff 1', 'diff 1', 1])
  assert.deepEqual(change, { name: 'f', diff: 'diff 1' })
})
