import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { shortened } from './shortened.ts'

test('a long text is cut between two characters, and that is told', () => {
  assert.equal(shortened('abc', 3), 'abc')
  assert.equal(shortened('abcd', 3), 'abc…')
  assert.equal(shortened('ab😀', 3), 'ab…')
  assert.equal(shortened('ab😀', 4), 'ab😀')
  assert.equal(shortened('a😀b', 3), 'a😀…')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
      const shown = shortened(text, max)
      if (text.length <= max) assert.equal(shown, text)
      else assert.ok(shown.isWellFormed() && shown.length <= max + 1 && text.startsWith(shown.slice(0, -1)))
    }),
  )
})
