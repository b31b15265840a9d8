import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@waldo/protocol'
import fc from 'fast-check'
import { encodeFrame, type Frame, FrameSplitter } from './helper-frames.ts'

const split = (splitter: FrameSplitter, bytes: Uint8Array) => [...splitter.push(bytes)]
const header = (jsonBytes: number, payloadBytes: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(jsonBytes, 0)
  bytes.writeUInt32LE(payloadBytes, 4)
  return bytes
}

describe('frames', () => {
  test('come out as they went in, wherever the stream is cut', () => {
    const anyFrame = fc.record({
      message: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
      payload: fc.uint8Array({ maxLength: 200 }),
    })
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 5 }), fc.infiniteStream(fc.nat({ max: 40 })), (frames, sizes) => {
        const bytes = Buffer.concat(frames.flatMap(({ message, payload }) => encodeFrame(message, payload)))
        const splitter = new FrameSplitter()
        const got: Frame[] = []
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value as number
          got.push(...split(splitter, bytes.subarray(at, at + size)))
          at += size
        }
        const expected = frames.map(({ message, payload }) => ({
          message: JSON.parse(JSON.stringify(message)),
          payload: [...payload],
        }))
        assert.deepEqual(
          got.map(({ message, payload }) => ({ message, payload: [...payload] })),
          expected,
        )
      }),
    )
  })

  test('keep their payload, whatever becomes of the memory that it came in', () => {
    const bytes = Uint8Array.from(Buffer.concat(encodeFrame({ a: 1 }, Buffer.from('payload'))))
    const [frame] = split(new FrameSplitter(), bytes)
    bytes.fill(0)
    assert.equal(Buffer.from(frame!.payload).toString(), 'payload')
  })

  test('are refused by their head if they are too long, before anything has come', () => {
    const max = 2 * limits.messageBytes
    for (const [json, payload] of [
      [max, 1],
      [1, max],
      [0xffffffff, 0xffffffff],
      [8, 0xffffffff],
      [0, 0],
    ] as const) {
      assert.throws(() => split(new FrameSplitter(), header(json, payload)), /a frame of \d+ bytes/)
    }
    assert.deepEqual(split(new FrameSplitter(), header(8, max - 8)), [])
    let now = 10
    const splitter = new FrameSplitter(() => now)
    assert.equal(split(splitter, Buffer.concat(encodeFrame({}, new Uint8Array(8)))).length, 1)
    now = 9
    assert.throws(() => split(splitter, header(2, 8)), /a frame of 10 bytes/)
  })

  test('are refused if what they hold is not JSON', () => {
    for (const text of ['', '{', 'hello world', '\xff']) {
      const bytes = Buffer.concat([header(text.length, 0), Buffer.from(text, 'latin1')])
      assert.throws(() => split(new FrameSplitter(), bytes), /a frame of 0 bytes|not JSON/)
    }
  })

  test('are refused if they hold more than anybody has to say', () => {
    const frame = (json: string) => Buffer.concat([header(json.length, 0), Buffer.from(json)])
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
    assert.throws(() => split(new FrameSplitter(), frame(deep)), /nested deeper/)
    const many = `[${'{},'.repeat(limits.messageBytes / 8)}{}]`
    assert.throws(() => split(new FrameSplitter(), frame(many)), /more than \d+ JSON values/)
  })

  test('before one that is refused come out all the same', () => {
    const splitter = new FrameSplitter()
    const stream = splitter.push(Buffer.concat([...encodeFrame({ good: true }), header(0xffffffff, 0)]))
    assert.deepEqual(stream.next().value?.message, { good: true })
    assert.throws(() => stream.next(), /a frame of/)
  })
})
