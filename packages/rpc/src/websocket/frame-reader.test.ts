import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { FrameError } from './frame-error.ts'
import { FrameReader } from './frame-reader.ts'

const MAX_BYTES = 1000
const encoder = new TextEncoder()
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes)

interface FrameOptions {
  readonly final?: boolean
  readonly mask?: readonly number[]
}

/** A frame as a client sends it. */
function frame(opcode: number, payload: string | Uint8Array, { final = true, mask = [1, 2, 3, 4] }: FrameOptions = {}) {
  const bytes = typeof payload === 'string' ? encoder.encode(payload) : payload
  const { length } = bytes
  const header =
    length < 126
      ? [0x80 | length]
      : length < 65536
        ? [0xfe, length >> 8, length & 0xff]
        : [0xff, 0, 0, 0, 0, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]
  const masked = bytes.map((byte, at) => byte ^ mask[at % 4]!)
  return Uint8Array.from([(final ? 0x80 : 0) | opcode, ...header, ...mask, ...masked])
}

const join = (...parts: Uint8Array[]) => {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** A reader that writes down what it is told. */
function listen({ maxBytes = MAX_BYTES, onEvent = (_event: string) => {} } = {}) {
  const events: string[] = []
  const add = (event: string) => {
    events.push(event)
    onEvent(event)
  }
  const reader: FrameReader = new FrameReader(
    {
      text: (text) => add(`text ${text}`),
      binary: (bytes) => add(`binary ${latin1(bytes)}`),
      ping: (payload) => add(`ping ${latin1(payload)}`),
      pong: (payload) => add(`pong ${latin1(payload)}`),
      close: ({ code, reason }) => add(`close ${code} ${reason}`),
    },
    maxBytes,
  )
  return { reader, events }
}

/** How the reader ends, for bytes that come at once and one by one. */
function failure(...frames: Uint8Array[]): { code: number; events: string[] } {
  const bytes = join(...frames)
  const outcomes = [[bytes.slice()], [...bytes].map((byte) => Uint8Array.of(byte))].map((chunks) => {
    const { reader, events } = listen()
    try {
      for (const chunk of chunks) reader.push(chunk)
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error))
      reader.push(frame(1, 'too late'))
      return { code: error.closeCode as number, events }
    }
    return { code: 0, events }
  })
  assert.deepEqual(outcomes[0], outcomes[1])
  return outcomes[0]!
}

describe('what a client may send', () => {
  test('arrives, whatever the fragments, masks and chunks', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 300 })
      .map((text) => new TextDecoder().decode(encoder.encode(text)))
    const message = fc.record({
      text,
      cuts: fc.array(fc.nat(900), { maxLength: 4 }),
      mask: fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }),
      pings: fc.boolean(),
    })
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), sizes, (messages, sizes) => {
        const frames: Uint8Array[] = []
        const expected: string[] = []
        for (const { text, cuts, mask, pings } of messages) {
          const bytes = encoder.encode(text)
          const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
          let start = 0
          for (const [i, end] of ends.entries()) {
            const final = i === ends.length - 1
            frames.push(frame(i === 0 ? 1 : 0, bytes.slice(start, end), { final, mask }))
            start = end
            if (pings && !final) {
              frames.push(frame(9, 'between'))
              expected.push('ping between')
            }
          }
          expected.push(`text ${text}`)
        }
        const { reader, events } = listen({ maxBytes: 10_000 })
        const bytes = join(...frames)
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const end = at + sizes[i % sizes.length]!
          reader.push(bytes.slice(at, end))
          at = end
        }
        assert.deepEqual(events, expected)
      }),
    )
  })

  test('text, binary, ping, pong and close are told apart; nothing comes after a close', () => {
    const { reader, events } = listen()
    const close = Uint8Array.of(0x03, 0xe8, ...encoder.encode('bye'))
    reader.push(join(frame(1, ''), frame(2, '\x01\x02'), frame(9, 'a'), frame(10, 'b'), frame(8, close), frame(1, 'x')))
    assert.deepEqual(events, ['text ', 'binary \x01\x02', 'ping a', 'pong b', 'close 1000 bye'])
  })

  test('a replacement character and a byte order mark are text like any other', () => {
    const { reader, events } = listen()
    reader.push(frame(1, '\ufeff\ufffd'))
    assert.deepEqual(events, ['text \ufeff\ufffd'])
  })

  test('a message of exactly the limit', () => {
    const { reader, events } = listen()
    reader.push(frame(1, 'x'.repeat(MAX_BYTES)))
    reader.push(join(frame(1, 'x'.repeat(MAX_BYTES - 1), { final: false }), frame(0, 'x')))
    assert.equal(events.length, 2)
  })

  test('a large message in many chunks, and one in very many fragments', () => {
    const size = 5_000_000
    const { reader, events } = listen({ maxBytes: size })
    const bytes = frame(1, 'y'.repeat(size))
    for (let at = 0; at < bytes.length; at += 65_537) reader.push(bytes.slice(at, at + 65_537))
    const tiny = join(...Array.from({ length: 1000 }, () => frame(0, 'z', { final: false })))
    reader.push(frame(1, '', { final: false }))
    for (let i = 0; i < 100; i++) reader.push(tiny.slice())
    reader.push(frame(0, ''))
    assert.deepEqual(events, [`text ${'y'.repeat(size)}`, `text ${'z'.repeat(100_000)}`])
  })
})

describe('what a client may not send', () => {
  const cases: [string, number, ...Uint8Array[]][] = [
    ['a frame that is not masked', 1002, Uint8Array.of(0x81, 0x01, 0x41)],
    ['reserved bits', 1002, Uint8Array.of(0xc1, 0x80, 0, 0, 0, 0)],
    ['an unknown opcode', 1002, frame(3, '')],
    ['an unknown control opcode', 1002, frame(11, '')],
    ['a ping that is too long', 1002, frame(9, 'x'.repeat(126))],
    ['a ping in fragments', 1002, frame(9, 'x', { final: false })],
    ['a fragment of nothing', 1002, frame(0, 'x')],
    ['a message in a message', 1002, frame(1, 'x', { final: false }), frame(1, 'y')],
    ['a length of two bytes that fits in one', 1002, Uint8Array.of(0x81, 0xfe, 0, 125, 0, 0, 0, 0)],
    [
      'a length of eight bytes that fits in two',
      1002,
      Uint8Array.of(0x81, 0xff, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0),
    ],
    ['a negative length', 1002, Uint8Array.of(0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
    ['a close code of one byte', 1002, frame(8, 'x')],
    ['a close code that stands for none', 1002, frame(8, Uint8Array.of(0x03, 0xed))],
    ['a close code below all', 1002, frame(8, Uint8Array.of(0x03, 0xe7))],
    ['a close code above all', 1002, frame(8, Uint8Array.of(0x13, 0x88))],
    ['a close reason that is not UTF-8', 1007, frame(8, Uint8Array.of(0x03, 0xe8, 0xff))],
    ['text that is not UTF-8', 1007, frame(1, Uint8Array.of(0x41, 0xc3))],
    ['a surrogate in UTF-8', 1007, frame(1, Uint8Array.of(0xed, 0xa0, 0x80))],
    ['an overlong encoding', 1007, frame(1, Uint8Array.of(0xc0, 0x80))],
    [
      'text that is not UTF-8 across fragments',
      1007,
      frame(1, Uint8Array.of(0xe2, 0x82), { final: false }),
      frame(0, Uint8Array.of(0x41)),
    ],
    ['a message above the limit', 1009, Uint8Array.of(0x81, 0xfe, 0x03, 0xe9, 0, 0, 0, 0)],
    [
      'fragments above the limit',
      1009,
      frame(1, 'x'.repeat(600), { final: false }),
      Uint8Array.of(0x80, 0xfe, 0x01, 0x91, 0, 0, 0, 0),
    ],
    [
      'a length beyond all numbers',
      1009,
      Uint8Array.of(0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0),
    ],
  ]
  for (const [title, code, ...frames] of cases) {
    test(title, () => {
      assert.deepEqual(failure(frame(1, 'before'), ...frames), { code, events: ['text before'] })
    })
  }

  test('a character that two fragments share is not among it', () => {
    const { code, events } = failure(
      frame(1, Uint8Array.of(0xe2, 0x82), { final: false }),
      frame(0, Uint8Array.of(0xac)),
    )
    assert.deepEqual([code, events], [0, ['text €']])
  })
})

describe('a reader that is paused', () => {
  const three = join(frame(1, 'one'), frame(1, 'two'), frame(1, 'three'))

  test('holds back the rest of the chunk and what comes after it, in order', () => {
    const { reader, events } = listen({ onEvent: (event) => event === 'text one' && reader.pause() })
    reader.push(three.slice())
    reader.push(frame(1, 'four'))
    assert.deepEqual(events, ['text one'])
    reader.resume()
    assert.deepEqual(events, ['text one', 'text two', 'text three', 'text four'])
  })

  test('may be resumed from an event, and tells everything once', () => {
    const { reader, events } = listen({
      onEvent() {
        reader.pause()
        reader.resume()
      },
    })
    reader.push(three.slice())
    assert.deepEqual(events, ['text one', 'text two', 'text three'])
  })

  test('tells nothing after it was stopped', () => {
    const { reader, events } = listen({ onEvent: () => reader.stop() })
    reader.push(three.slice())
    reader.resume()
    reader.push(three.slice())
    assert.deepEqual(events, ['text one'])
  })
})
