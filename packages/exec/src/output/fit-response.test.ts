import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fitResponse } from './fit-response.ts'
import { HeadTailBuffer } from './head-tail-buffer.ts'
import type { TruncationPolicy } from './truncation-policy.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const around = { chunkId: '0a1b2c', wallTimeMs: 10, exitCode: 1, notes: [] }

function output(text: string, capacity?: number): HeadTailBuffer {
  const buffer = new HeadTailBuffer(capacity)
  buffer.push(encode(text))
  return buffer
}

describe('a whole answer', () => {
  test('counts what was said, and shows what fits', () => {
    const text = fitResponse(around, output('x'.repeat(5000)), { model: { kind: 'tokens', limit: 1000 } })
    assert.equal(
      text,
      'Chunk ID: 0a1b2c\nWall time: 0.0100 seconds\nProcess exited with code 1\nOriginal token count: 1250\nOutput:\n' +
        'Warning: truncated output (original token count: 1250)\nTotal output lines: 1\n\n' +
        `${'x'.repeat(2000)}…250 tokens truncated…${'x'.repeat(2000)}`,
    )
  })

  test('shows what the call asks for, up to what the model can take', () => {
    const model = { kind: 'tokens', limit: 1000 } as const
    const long = output('x'.repeat(50_000))
    assert.match(fitResponse(around, long, { model, maxOutputTokens: 10 }), /\n\nx{20}…12490 tokens truncated…x{20}$/)
    assert.equal(fitResponse(around, long, { model, maxOutputTokens: 9999 }), fitResponse(around, long, { model }))
  })

  test('exceeds the limit of the model by a fifth at most, so that nobody has to cut it again', () => {
    const policy = fc.record({
      kind: fc.constantFrom<TruncationPolicy['kind']>('tokens', 'bytes'),
      limit: fc.integer({ min: 400, max: 900 }),
    })
    const text = fc.tuple(fc.constantFrom('x', '€', '😀', 'ab\n', '\ufffd'), fc.nat(3000)).map(([s, n]) => s.repeat(n))
    const notes = fc.array(fc.constant('Warning: something to keep in mind'), { maxLength: 2 })
    fc.assert(
      fc.property(policy, text, notes, fc.constantFrom(64, 500, 100_000), (model, text, notes, capacity) => {
        const full = { sessionId: 1234, offset: 0 }
        const answer = fitResponse({ ...around, notes }, output(text, capacity), { model, full })
        const limit = model.limit * (model.kind === 'tokens' ? 4 : 1)
        assert.ok(encode(answer).length <= limit * 1.2, answer)
      }),
    )
  })

  test('is never less than the lines around the output', () => {
    const model = { kind: 'bytes', limit: 10 } as const
    assert.match(
      fitResponse(around, output('x'.repeat(50)), { model }),
      /\nOutput:\nWarning: .*\n\n…50 chars truncated…$/s,
    )
  })
})
