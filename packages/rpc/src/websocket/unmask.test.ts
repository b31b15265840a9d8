import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rotate, unmask } from './unmask.ts'

test('every byte from start to end is unmasked with its byte of the key, wherever it lies in memory', () => {
  const bytes = fc.uint8Array({ minLength: 0, maxLength: 200 })
  const key = fc.uint8Array({ minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(bytes, key, fc.nat(7), fc.nat(210), fc.nat(210), (content, key, offset, a, b) => {
      const [start, end] = [Math.min(a, b), Math.max(a, b)].map((at) => Math.min(at, content.length)) as [
        number,
        number,
      ]
      const memory = new Uint8Array(content.length + 16)
      const view = memory.subarray(offset, offset + content.length)
      view.set(content)
      unmask(view, start, end, new DataView(key.buffer).getInt32(0, true))
      const expected = content.map((byte, at) => (at < start || at >= end ? byte : byte ^ key[(at - start) % 4]!))
      assert.deepEqual(view, expected)
      assert.ok(memory.subarray(offset + content.length).every((byte) => byte === 0))
    }),
  )
})

test('a rotated key goes on where the bytes before have ended', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.integer(), fc.nat(99), (content, mask, at) => {
      const cut = Math.min(at, content.length)
      const whole = content.slice()
      unmask(whole, 0, whole.length, mask)
      unmask(content, 0, cut, mask)
      unmask(content, cut, content.length, rotate(mask, cut))
      assert.deepEqual(content, whole)
    }),
  )
})
