import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { HeadTailBuffer } from './head-tail-buffer.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

function filled(capacity: number, ...chunks: (string | Uint8Array)[]): HeadTailBuffer {
  const buffer = new HeadTailBuffer(capacity)
  for (const chunk of chunks) buffer.push(typeof chunk === 'string' ? encode(chunk) : chunk)
  return buffer
}

/** What a buffer that was given all these bytes has to keep. */
function kept(capacity: number, all: Uint8Array) {
  const head = all.subarray(0, Math.floor(capacity / 2))
  const rest = all.subarray(head.length)
  const tailBudget = capacity - Math.floor(capacity / 2)
  const tail = rest.subarray(Math.max(0, rest.length - tailBudget))
  return { head: [...head], tail: [...tail], omitted: all.length - head.length - tail.length, total: all.length }
}

function stateOf(buffer: HeadTailBuffer) {
  assert.equal(buffer.retainedBytes, buffer.head().length + buffer.tail().length)
  assert.deepEqual([...buffer.bytes()], [...buffer.head(), ...buffer.tail()])
  return {
    head: [...buffer.head()],
    tail: [...buffer.tail()],
    omitted: buffer.omittedBytes,
    total: buffer.totalBytes,
  }
}

const joined = (chunks: readonly Uint8Array[]) => Uint8Array.from(chunks.flatMap((chunk) => [...chunk]))
const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 })
const capacity = fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.integer({ min: 0, max: 64 }))

describe('a head-tail buffer', () => {
  test('keeps everything that fits, without a marker', () => {
    const buffer = filled(10, '0123456789')
    assert.equal(decode(buffer.markedBytes()), '0123456789')
    assert.equal(buffer.omittedBytes, 0)
  })

  test('keeps the beginning and the end, and says how much is missing between them', () => {
    const buffer = filled(10, '0123456789', 'ab')
    assert.equal(decode(buffer.bytes()), '01234789ab')
    assert.equal(decode(buffer.markedBytes()), '01234\n... 2 bytes omitted ...\n789ab')
  })

  test('takes a chunk that is larger than its tail', () => {
    const buffer = filled(10, '0123456789', 'ABCDEFGHIJK')
    assert.deepEqual(stateOf(buffer), {
      head: [...encode('01234')],
      tail: [...encode('GHIJK')],
      omitted: 11,
      total: 21,
    })
  })

  test('of no bytes counts all of them, and of one byte keeps the last', () => {
    assert.deepEqual(stateOf(filled(0, 'abc')), { head: [], tail: [], omitted: 3, total: 3 })
    assert.equal(decode(filled(0, 'abc').markedBytes()), '\n... 3 bytes omitted ...\n')
    assert.deepEqual(stateOf(filled(1, 'ab', 'c')), { head: [], tail: [...encode('c')], omitted: 2, total: 3 })
  })

  test('cuts through characters, which are shown as replaced', () => {
    const buffer = filled(9, 'abc€€€def'.repeat(3))
    assert.equal(decode(buffer.markedBytes()), 'abc\ufffd\n... 36 bytes omitted ...\n\ufffd\ufffddef')
  })

  test('refuses a capacity that is none', () => {
    for (const wrong of [-1, 1.5, Number.NaN]) assert.throws(() => new HeadTailBuffer(wrong), RangeError)
  })

  test('drains with its counts, and is empty then', () => {
    const buffer = filled(10, '0123456789', 'abc')
    const before = stateOf(buffer)
    const drained = buffer.drain()
    assert.deepEqual(stateOf(drained), before)
    assert.deepEqual(stateOf(buffer), { head: [], tail: [], omitted: 0, total: 0 })
    buffer.push(encode('new'))
    assert.deepEqual(stateOf(drained), before)
    assert.equal(decode(buffer.bytes()), 'new')
  })

  test('does not keep the memory of a chunk', () => {
    const chunk = encode('abcdefghijkl')
    const buffer = filled(10, chunk)
    chunk.fill(0)
    assert.equal(decode(buffer.bytes()), 'abcdehijkl')
  })

  test('keeps what the plain rule says, however the output is cut into chunks', () => {
    fc.assert(
      fc.property(capacity, chunks, (capacity, chunks) => {
        assert.deepEqual(stateOf(filled(capacity, ...chunks)), kept(capacity, joined(chunks)))
      }),
    )
  })

  test('does so also with output that outgrows its first allocations', () => {
    const all = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251)
    for (const size of [1, 999, 4096, 5000, 65_000]) {
      for (const capacity of [9000, 20_001, 65_536, 200_000]) {
        const buffer = new HeadTailBuffer(capacity)
        for (let at = 0; at < all.length; at += size) buffer.push(all.subarray(at, at + size))
        assert.deepEqual(stateOf(buffer), kept(capacity, all), `chunks of ${size} in ${capacity}`)
      }
    }
  })

  test('that others are appended to is as if it had got everything itself', () => {
    fc.assert(
      fc.property(capacity, fc.array(chunks, { minLength: 1, maxLength: 4 }), (capacity, parts) => {
        const whole = new HeadTailBuffer(capacity)
        for (const part of parts) {
          const other = filled(capacity, ...part)
          const before = stateOf(other)
          whole.append(other)
          assert.deepEqual(stateOf(other), before)
        }
        assert.deepEqual(stateOf(whole), kept(capacity, joined(parts.flat())))
      }),
    )
  })

  test('does not append one of another capacity', () => {
    assert.throws(() => filled(10).append(filled(11)), /of 11 bytes to one of 10/)
  })
})
