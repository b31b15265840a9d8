import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DELTA_MAX_BYTES, Utf8Splitter } from './utf8-splitter.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function split(chunks: readonly Uint8Array[], maxBytes?: number): Uint8Array[] {
  const splitter = new Utf8Splitter(maxBytes)
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

function cutInto(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let at = 0
  for (const size of [...sizes, bytes.length]) {
    parts.push(bytes.slice(at, at + size))
    at += size
  }
  return parts
}

const maxBytes = fc.integer({ min: 4, max: 12 })
const sizes = fc.array(fc.integer({ min: 0, max: 9 }))

describe('a splitter', () => {
  test('gives pieces of valid text, whatever the chunks were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), sizes, maxBytes, (text, sizes, maxBytes) => {
        const pieces = split(cutInto(encode(text), sizes), maxBytes)
        for (const piece of pieces) assert.ok(piece.length > 0 && piece.length <= maxBytes)
        assert.equal(pieces.map((piece) => strict.decode(piece)).join(''), text.toWellFormed())
      }),
    )
  })

  test('loses no byte of what is no text', () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    const leads = fc.array(fc.constantFrom(0x41, 0x80, 0xc3, 0xe2, 0xf0, 0xff), { maxLength: 60 })
    fc.assert(
      fc.property(
        fc.oneof(bytes, leads.map(Uint8Array.from.bind(Uint8Array))),
        sizes,
        maxBytes,
        (bytes, sizes, max) => {
          const pieces = split(cutInto(Uint8Array.from(bytes), sizes), max)
          for (const piece of pieces) assert.ok(piece.length > 0 && piece.length <= max)
          assert.deepEqual(
            pieces.flatMap((piece) => [...piece]),
            [...bytes],
          )
        },
      ),
    )
  })

  test('keeps the beginning of a character until the rest comes, or the end', () => {
    const splitter = new Utf8Splitter()
    const [a, b, c, d] = encode('😀')
    assert.deepEqual(splitter.push(Uint8Array.of(0x41, a!)), [Uint8Array.of(0x41)])
    assert.deepEqual(splitter.push(Uint8Array.of(b!)), [])
    assert.deepEqual(splitter.push(Uint8Array.of()), [])
    assert.deepEqual(splitter.push(Uint8Array.of(c!, d!, a!, b!)), [encode('😀')])
    assert.deepEqual(splitter.end(), [Uint8Array.of(a!, b!)])
    assert.deepEqual(splitter.end(), [])
  })

  test('does not copy a chunk that is fine as it is', () => {
    const chunk = encode('x'.repeat(3 * DELTA_MAX_BYTES))
    const pieces = split([chunk])
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [DELTA_MAX_BYTES, DELTA_MAX_BYTES, DELTA_MAX_BYTES],
    )
    assert.ok(pieces.every(({ buffer }) => buffer === chunk.buffer))
  })
})
