import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LastOutput } from './last-output.ts'

const KEPT = 64 * 1024

function saidIn(...chunks: (string | Uint8Array)[]): string {
  const last = new LastOutput()
  for (const chunk of chunks) last.push(Buffer.from(chunk as string))
  return last.text()
}

describe('the last output', () => {
  test('is all of it, as long as it is not much', () => {
    assert.equal(saidIn(), '')
    assert.equal(saidIn('a', '', 'b\nc'), 'ab\nc')
    assert.equal(saidIn('x'.repeat(KEPT)).length, KEPT)
  })

  test('begins with a line once something is left out', () => {
    assert.equal(saidIn(`first\n${'x'.repeat(KEPT - 5)}\nlast\n`), 'last\n')
    assert.equal(saidIn('first line\n', 'y'.repeat(KEPT - 5), '\nlast\n'), 'last\n')
  })

  test('is what it is of a line that is longer than all that is kept', () => {
    assert.equal(saidIn('x'.repeat(3 * KEPT)), 'x'.repeat(KEPT))
  })

  test('does not change with the memory that it came in', () => {
    const last = new LastOutput()
    const memory = new TextEncoder().encode('as it was')
    last.push(memory)
    memory.fill(0)
    assert.equal(last.text(), 'as it was')
  })

  test('is text, whatever the bytes are', () => {
    assert.equal(saidIn(Uint8Array.of(0xc3), Uint8Array.of(0xa4, 0xff)), 'ä\ufffd')
  })

  test('is the same however it was cut, and can be asked for at any time', () => {
    const anyLine = fc.nat({ max: 9000 }).map((length) => `${'z'.repeat(length)}\n`)
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 40 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40_000 })),
        (lines, sizes) => {
          const all = Buffer.from(lines.join(''))
          const last = new LastOutput()
          for (let at = 0; at < all.length; ) {
            const size = sizes.next().value as number
            last.push(all.subarray(at, at + size))
            at += size
            if (size % 7 === 0) last.text()
          }
          const kept = all.subarray(-KEPT)
          const expected = kept.length === all.length ? kept : kept.subarray(kept.indexOf(10) + 1)
          assert.equal(last.text(), expected.toString())
        },
      ),
    )
  })
})
