import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sameBytes } from './same-bytes.ts'

test('two files are the same if all of their bytes are, and no file is the same as no file only', () => {
  const file = fc.option(fc.uint8Array({ max: 2, maxLength: 4 }), { nil: undefined })
  fc.assert(
    fc.property(file, file, (a, b) => {
      assert.equal(sameBytes(a, b), String(a && [...a, '.']) === String(b && [...b, '.']))
      assert.ok(sameBytes(a, a?.slice()))
    }),
  )
})
