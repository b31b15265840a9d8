import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LinePattern } from './line-pattern.ts'
import { StreamSearch } from './stream-search.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const pattern = fc
  .array(
    fc.constantFrom(
      ...['a', 'b', '€', '.', '[^a]', '\\w', '\\s', '\\r', '\\ufffd', '^', '$', '\\b', '\\B'],
      ...['(?:a|b)', 'a*', 'b+', '(?:^|b)', '(?:a|$)', '(?:\\b|€)'],
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''))
/** Whole characters, and pieces of them. */
const stream = fc
  .array(fc.constantFrom(...[...'ab_ €😀\r\n', '\r\n'].map(bytes), Uint8Array.of(0xe2), Uint8Array.of(0x82)), {
    maxLength: 24,
  })
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])))

/** Cut at these places. */
function chunksOf(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...cuts.map((cut) => cut % (data.length + 1)), data.length].sort((a, b) => a - b)
  return places.map((to, index) => data.subarray(places[index - 1] ?? 0, to))
}

/** The same by lines. */
function isInLines(data: Uint8Array, pattern: string): boolean {
  const lines = Buffer.from(data).toString('latin1').split('\n')
  const last = lines.pop()!
  const matches = (line: string) => {
    const found = Buffer.from(line, 'latin1')
    return LinePattern.parse(pattern).search(found, 0, found.length) !== undefined
  }
  // What has not ended may be about to, with the LF after its CR.
  return (
    lines.some((line) => matches(line.replace(/\r$/, ''))) ||
    (last !== '' && (matches(last) || matches(last.replace(/\r$/, ''))))
  )
}

describe('a pattern in a stream', () => {
  test('is found, or not, wherever the stream is cut', () => {
    fc.assert(
      fc.property(pattern, stream, fc.array(fc.nat(60), { maxLength: 8 }), (pattern, data, cuts) => {
        const whole = StreamSearch.parse(pattern)
        const pieces = StreamSearch.parse(pattern)
        const expected = whole.feed(data)
        assert.equal(
          chunksOf(data, cuts)
            .map((chunk) => pieces.feed(chunk))
            .at(-1),
          expected,
        )
        assert.equal(pieces.matchesIfLineEnds, whole.matchesIfLineEnds)
        const atEnd = whole.end()
        assert.equal(pieces.end(), atEnd)
        assert.equal(pieces.end(), atEnd)
        assert.equal(atEnd, isInLines(data, pattern))
      }),
      { numRuns: 2000 },
    )
  })

  test('is found before anything follows it only if nothing could undo it', () => {
    const feed = (pattern: string, ...chunks: string[]) => {
      const search = StreamSearch.parse(pattern)
      return chunks.map((chunk) => search.feed(bytes(chunk)))
    }
    assert.deepEqual(feed('foo', 'fo', 'o'), [false, true])
    assert.deepEqual(feed('foo\\b', 'foo', 'bar'), [false, false])
    assert.deepEqual(feed('foo\\b', 'foo', '-'), [false, true])
    assert.deepEqual(feed('foo\\B', 'foo', 'bar'), [false, true])
    assert.deepEqual(feed('foo(?:\\b|\\B)', 'foo'), [true])
    assert.deepEqual(feed('foo$', 'foo', '\r', '\n'), [false, false, true])
    assert.deepEqual(feed('foo$', 'foo', '\r', 'x\n'), [false, false, false])
    assert.deepEqual(feed('^foo', 'x', 'foo', '\n', 'foo'), [false, false, false, true])
    assert.deepEqual(feed('^$', 'x\n', 'y\n', '\n'), [false, false, true])
    assert.deepEqual(feed('', '', 'x'), [false, true])
  })

  test('does not depend on the memory of a chunk once that was looked at', () => {
    for (const chunk of [Uint8Array.of(0xe2, 0x82), Buffer.of(0xe2, 0x82)]) {
      const search = StreamSearch.parse('€')
      assert.equal(search.feed(chunk), false)
      chunk.fill(0)
      assert.equal(search.feed(Uint8Array.of(0xac)), true)
    }
  })

  test('costs the same in single bytes as in one piece, and gives up where that would', () => {
    const text = bytes(`${'ab'.repeat(100_000)}\n`)
    const easy = StreamSearch.parse('(a|b)*c$')
    for (let at = 0; at < text.length; at++) assert.equal(easy.feed(text.subarray(at, at + 1)), false)
    assert.ok(!easy.isSpent)
    const hard = StreamSearch.parse('[ab]*a[ab]{700}[ab]{700}$')
    let seed = 1
    const random = Uint8Array.from({ length: 1_000_000 }, () => {
      seed = (seed * 48_271) % 0x7fffffff
      return seed % 2 === 0 ? 0x61 : 0x62
    })
    for (let at = 0; at < random.length; at += 997) assert.equal(hard.feed(random.subarray(at, at + 997)), false)
    assert.ok(hard.isSpent)
    assert.ok(!hard.matchesIfLineEnds && !hard.end())
  })
})
