import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textWithBase64 } from './base64-text.ts'
import { joinParts } from './wire.ts'

const KiB = 1024
const SIZES = [0, 1, 8 * KiB, 8 * KiB + 1, 100_000, 768 * KiB, 768 * KiB + 1, 768 * KiB + 2, 5_000_000]

/** As an answer to somebody who calls things by these names. */
function encode(name: string, bytes: Uint8Array): string {
  const text = textWithBase64(`{"name":${JSON.stringify(name)},"data":"`, bytes, `","end":${JSON.stringify(name)}}`)
  if (typeof text === 'string') return text
  const joined = joinParts(text)
  assert.equal(joined.length, text.length)
  assert.equal(Buffer.byteLength(joined), text.length)
  return joined
}

describe('bytes in a text', () => {
  test('arrive as they are, however long they are and whatever is around them', () => {
    for (const size of SIZES) {
      const bytes = Buffer.alloc(size, 'any bytes')
      for (const name of ['plain', 'é€ 😀 "\\u0041" \ud83d']) {
        const { data, ...names } = JSON.parse(encode(name, bytes))
        assert.ok(Buffer.from(data, 'base64').equals(bytes), `${size} bytes`)
        assert.deepEqual(names, { name, end: name })
      }
    }
  })

  test('may change once they are in a text of one part', () => {
    const bytes = Buffer.alloc(64 * KiB, 'a')
    const text = textWithBase64('"', bytes, '"')
    bytes.fill('b')
    assert.ok(typeof text !== 'string')
    assert.equal(joinParts(text), `"${Buffer.alloc(64 * KiB, 'a').toString('base64')}"`)
  })
})
