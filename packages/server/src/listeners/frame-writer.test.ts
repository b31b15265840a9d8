import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { FrameWriter } from './frame-writer.ts'

const MiB = 1024 * 1024

interface Frame {
  readonly final: boolean
  readonly opcode: number
  readonly payload: Buffer
}

/** Everything that the writer has to say, as it leaves a buffer of that size. */
function drain(writer: FrameWriter, bufferBytes = 64 * 1024, between = () => {}): Frame[] {
  const buffer = Buffer.alloc(bufferBytes)
  const parts: Buffer[] = []
  for (;;) {
    const bytes = writer.fill(buffer)
    if (bytes === 0) break
    parts.push(Buffer.from(buffer.subarray(0, bytes)))
    between()
  }
  assert.equal(writer.queuedBytes, 0)
  return [...frames(Buffer.concat(parts))]
}

function* frames(bytes: Buffer): Generator<Frame> {
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 1]!
    const [length, header] =
      short < 126 ? [short, 2] : short === 126 ? [bytes.readUInt16BE(at + 2), 4] : [bytes.readUInt32BE(at + 6), 10]
    const end = at + header + length
    assert.ok(end <= bytes.length, 'a frame is cut')
    yield { final: bytes[at]! >= 0x80, opcode: bytes[at]! & 0x0f, payload: bytes.subarray(at + header, end) }
    at = end
  }
}

/** The messages that frames carry, control frames in brackets. */
function messages(all: Frame[]): string[] {
  const told: string[] = []
  let parts: Buffer[] = []
  for (const { final, opcode, payload } of all) {
    if (opcode >= 8) {
      told.push(`[${opcode} ${payload}]`)
      continue
    }
    assert.equal(opcode, parts.length === 0 ? 1 : 0)
    parts.push(payload)
    if (!final) continue
    told.push(Buffer.concat(parts).toString())
    parts = []
  }
  assert.equal(parts.length, 0)
  return told
}

const inParts = (...parts: string[]) => ({ length: parts.join('').length, parts: () => parts.values() })

const wellFormed = (text: string) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text))

describe('what is sent', () => {
  test('arrives in order, whatever the texts and the size of the buffer', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      // Surrogates without their other half are no characters; receivers must not see them.
      fc
        .array(fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00'), { maxLength: 300 })
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 200, max: 2000 }), (texts, bufferBytes) => {
        const writer = new FrameWriter()
        for (const text of texts) writer.text(text)
        assert.deepEqual(messages(drain(writer, bufferBytes)), texts.map(wellFormed))
      }),
    )
  })

  test('up to 8 MiB is one frame, more goes in frames of at most 8 MiB', () => {
    const cases: [string, number][] = [
      ['x'.repeat(8 * MiB), 1],
      ['x'.repeat(8 * MiB + 1), 2],
      ['x'.repeat(40 * MiB), 5],
      ['é'.repeat(4 * MiB), 1],
      [`${'€'.repeat(3 * MiB)}!`, 2],
      // Every boundary between frames falls into a pair.
      [`!${'😀'.repeat(3 * MiB)}`, 3],
    ]
    for (const [text, count] of cases) {
      const writer = new FrameWriter()
      writer.text(text)
      const all = drain(writer, 512 * 1024)
      assert.equal(all.length, count)
      assert.ok(all.every(({ payload }) => payload.length <= 8 * MiB))
      assert.ok(messages(all)[0] === text, `${text.slice(0, 5)} arrives as it was`)
    }
  })

  test('what comes in parts is one message, in as few frames as if it had come whole', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(sizes), fc.integer({ min: 200, max: 2000 }), (all, bufferBytes) => {
        const writer = new FrameWriter()
        const texts = all.map((each) => each.map((size, i) => String(i).repeat(size)))
        for (const parts of texts) writer.text(inParts(`<${parts.length}>`, ...parts))
        const sent = drain(writer, bufferBytes)
        assert.deepEqual(
          messages(sent),
          texts.map((parts) => `<${parts.length}>${parts.join('')}`),
        )
        assert.equal(sent.length, texts.length)
      }),
    )
    const writer = new FrameWriter()
    const large = ['x'.repeat(5 * MiB), 'y'.repeat(5 * MiB), 'z'.repeat(7 * MiB)]
    writer.text(inParts(...large))
    writer.text('next')
    const sent = drain(writer, 512 * 1024)
    assert.deepEqual(
      sent.map(({ payload, final }) => [payload.length, final]),
      [
        [8 * MiB, false],
        [8 * MiB, false],
        [MiB, true],
        [4, true],
      ],
    )
    assert.ok(messages(sent)[0] === large.join(''))
  })

  test('a ping stays in its place; a pong goes between two frames, and only the latest', () => {
    const writer = new FrameWriter()
    writer.text('first')
    writer.text('x'.repeat(20 * MiB))
    writer.control(9, Buffer.from('mark'))
    writer.text('last')
    let fills = 0
    const all = drain(writer, 512 * 1024, () => {
      if (++fills > 3) return
      writer.pong(Buffer.from(`answer ${fills}`))
    })
    assert.deepEqual(
      all.map(({ opcode, payload }) => (opcode < 8 ? payload.length : `${opcode} ${payload}`)),
      [5, 8 * MiB, '10 answer 3', 8 * MiB, 4 * MiB, '9 mark', 4],
    )
  })

  test('a hundred thousand messages that wait', () => {
    const writer = new FrameWriter()
    const texts = Array.from({ length: 100_000 }, (_, i) => `message ${i}`)
    for (const text of texts) writer.text(text)
    assert.equal(writer.queuedBytes, texts.join('').length)
    assert.deepEqual(messages(drain(writer, 1000)), texts)
  })
})
