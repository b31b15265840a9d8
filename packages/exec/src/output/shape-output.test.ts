import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { HeadTailBuffer } from './head-tail-buffer.ts'
import { originalTokenCount, rawText, shapeOutput } from './shape-output.ts'
import { truncateMiddle } from './truncate-middle.ts'
import { byteBudget, policyOfCall, type TruncationPolicy, tokensOfBytes } from './truncation-policy.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const tokens = (limit: number): TruncationPolicy => ({ kind: 'tokens', limit })
const bytes = (limit: number): TruncationPolicy => ({ kind: 'bytes', limit })

function output(data: string | Uint8Array, capacity?: number): HeadTailBuffer {
  const buffer = new HeadTailBuffer(capacity)
  buffer.push(typeof data === 'string' ? encode(data) : data)
  return buffer
}

describe('output', () => {
  test('under its budget or right at it is shown as it is', () => {
    assert.equal(shapeOutput(output('a\nb\n'), tokens(100)), 'a\nb\n')
    assert.equal(shapeOutput(output('12345678'), tokens(2)), '12345678')
    assert.equal(shapeOutput(output('12345678'), bytes(8)), '12345678')
    assert.equal(shapeOutput(output(''), tokens(0)), '')
    assert.equal(shapeOutput(output('\ufeffmark'), tokens(9)), '\ufeffmark')
  })

  test('over a budget of tokens loses its middle, and says how much that was and how much there was', () => {
    assert.equal(
      shapeOutput(output('line 1\nline 2\nline 3\n'), tokens(2)),
      'Warning: truncated output (original token count: 6)\nTotal output lines: 3\n\nline…4 tokens truncated…e 3\n',
    )
  })

  test('over a budget of bytes says how many characters are gone', () => {
    assert.equal(
      shapeOutput(output('ab€€€yz'), bytes(5)),
      'Warning: truncated output (original token count: 4)\nTotal output lines: 1\n\nab…3 chars truncated…yz',
    )
  })

  test('without any budget is only a marker', () => {
    assert.match(shapeOutput(output('abcde'), tokens(0)), /\n\n…2 tokens truncated…$/)
    assert.match(shapeOutput(output('ab€'), bytes(0)), /\n\n…3 chars truncated…$/)
  })

  test('counts a last line that has not ended', () => {
    assert.match(shapeOutput(output('a\nb\nc'), bytes(2)), /\nTotal output lines: 3\n/)
    assert.match(shapeOutput(output('a\n\n\n'), bytes(2)), /\nTotal output lines: 3\n/)
  })

  test('that is no UTF-8 is measured as it is shown', () => {
    assert.equal(shapeOutput(output(Uint8Array.of(0xff, 0x41)), bytes(4)), '\ufffdA')
    assert.match(shapeOutput(output(Uint8Array.of(0xff, 0x41)), bytes(3)), /\n\n…1 chars truncated…A$/)
  })

  test('that was too much to keep says so in its place', () => {
    const buffer = output('0123456789ab', 10)
    assert.equal(shapeOutput(buffer, tokens(100)), '01234\n... 2 bytes omitted ...\n789ab')
    assert.equal(rawText(buffer), '01234\n... 2 bytes omitted ...\n789ab')
    assert.equal(originalTokenCount(buffer), 3)
  })

  test('that was too much to keep and is cut as well says both, and counts everything', () => {
    assert.equal(
      shapeOutput(output('x'.repeat(1000), 100), tokens(10)),
      'Warning: truncated output (original token count: 250)\n' +
        `... 900 bytes omitted ...\n\n${'x'.repeat(20)}…22 tokens truncated…${'x'.repeat(20)}`,
    )
  })

  test('says that bytes were omitted even if the process has written the same line itself', () => {
    const fake = '... 900 bytes omitted ...'
    const shaped = shapeOutput(output(`${fake}${'x'.repeat(975)}`, 100), tokens(13))
    assert.ok(shaped.startsWith(`Warning: truncated output (original token count: 250)\n${fake}\n\n${fake}x…`), shaped)
  })

  test('says where the rest is, if there is a log', () => {
    const full = { sessionId: 1234, offset: 100 }
    assert.equal(shapeOutput(output('short'), tokens(100), full), 'short')
    assert.equal(
      shapeOutput(output('line 1\nline 2\nline 3\n'), tokens(2), full),
      'Warning: truncated output (original token count: 6)\nTotal output lines: 3\n' +
        'Full output: read_output {"session_id": 1234, "offset": 104}\n\nline…4 tokens truncated…e 3\n',
    )
    assert.equal(
      shapeOutput(output('0123456789ab', 10), tokens(100), full),
      'Full output: read_output {"session_id": 1234, "offset": 105}\n\n01234\n... 2 bytes omitted ...\n789ab',
    )
  })

  test('never points behind the first byte that is missing', () => {
    const data = fc.array(fc.constantFrom(0x41, 0x42, 0xe2, 0x82, 0xac, 0xf0, 0xff), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(data, fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 70 }), (data, limit, capacity) => {
        const all = Uint8Array.from(data)
        const shaped = shapeOutput(output(all, capacity), bytes(limit), { sessionId: 1, offset: 0 })
        const [, offset] = /"offset": (\d+)/.exec(shaped) ?? []
        if (offset === undefined) return
        // Everything before the offset is shown, from the beginning of the text.
        const text = shaped.slice(shaped.indexOf('\n\n') + 2)
        const before = new TextDecoder().decode(all.subarray(0, Number(offset)), { stream: true })
        assert.ok(text.startsWith(before), JSON.stringify({ text, before }))
      }),
    )
  })
})

describe('a policy', () => {
  test('of the model caps what a call asks for', () => {
    assert.deepEqual(policyOfCall(tokens(10_000), 500), tokens(500))
    assert.deepEqual(policyOfCall(tokens(10_000), 50_000), tokens(10_000))
    assert.deepEqual(policyOfCall(bytes(10_000), 2500), bytes(10_000), 'its own if both are the same')
    assert.deepEqual(policyOfCall(bytes(10_000), 2499), tokens(2499))
    assert.deepEqual(policyOfCall(tokens(20_000)), tokens(10_000), 'the usual if the call says nothing')
  })

  test('that is no number is refused', () => {
    for (const limit of [-1, Number.NaN]) assert.throws(() => byteBudget(tokens(limit)), RangeError)
    assert.equal(byteBudget(tokens(Infinity)), Number.MAX_SAFE_INTEGER)
  })
})

describe('a text without its middle', () => {
  test('stays within its budget and its marker, and is the same at both ends', () => {
    const policy = fc.record({ kind: fc.constantFrom('tokens', 'bytes'), limit: fc.integer({ min: 0, max: 40 }) })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), policy, (text, policy) => {
        const short = truncateMiddle(text, policy as TruncationPolicy)
        const budget = byteBudget(policy as TruncationPolicy)
        const length = encode(text).length
        if (length <= budget) return assert.equal(short, text)
        const [, left, n, right] = /^(.*)…(\d+) (?:tokens|chars) truncated…(.*)$/su.exec(short)!
        assert.ok(text.startsWith(left!) && text.endsWith(right!))
        assert.ok(encode(left!).length <= Math.floor(budget / 2))
        assert.ok(encode(right!).length <= Math.ceil(budget / 2))
        const removed = text.slice(left!.length, text.length - right!.length)
        assert.equal(Number(n), policy.kind === 'bytes' ? [...removed].length : tokensOfBytes(length - budget))
      }),
    )
  })
})
