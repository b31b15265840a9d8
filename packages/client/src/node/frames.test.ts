import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FrameReader } from '@waldo/rpc'
import fc from 'fast-check'
import { clientFrame } from './client-frame.ts'
import { ServerFrames } from './server-frames.ts'

/** Cuts bytes at any places. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.slice(at[index], end))
}

/** A frame as a server sends it. */
function serverFrame(opcode: number, payload: Uint8Array, final = true): Buffer {
  const { length } = payload
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  header[0] = (final ? 0x80 : 0) | opcode
  header[1] = length < 126 ? length : length < 65_536 ? 126 : 127
  if (header.length === 4) header.writeUInt16BE(length, 2)
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([header, payload])
}

function reader(seen: string[], maxBytes = 1e6): ServerFrames {
  return new ServerFrames(
    {
      message: (bytes) => seen.push(bytes.toString()),
      ping: (payload) => seen.push(`ping ${payload}`),
      pong: () => seen.push('pong'),
      close: (code, reason) => seen.push(`close ${code} ${reason}`),
    },
    maxBytes,
  )
}

const text = fc.oneof(
  fc.string(),
  fc.integer({ min: 100, max: 140 }).map((length) => 'm'.repeat(length)),
  fc.integer({ min: 65_530, max: 65_540 }).map((length) => 'l'.repeat(length)),
)

describe('frames of a WebSocket', () => {
  test('of a client are understood by a server, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 6 }), (texts, cuts) => {
        const seen: string[] = []
        const none = () => assert.fail('there is nothing else')
        const events = {
          text: (each: string) => void seen.push(each),
          binary: none,
          ping: none,
          pong: none,
          close: none,
        }
        const server = new FrameReader(events, 1e6)
        for (const piece of pieces(Buffer.concat(texts.map((each) => clientFrame(1, each))), cuts)) server.push(piece)
        assert.deepEqual(seen, texts)
      }),
    )
  })

  test('of a server are understood wherever they are cut, in fragments and with others in between', () => {
    const message = fc.record({ text, fragments: fc.array(fc.nat(), { maxLength: 3 }), ping: fc.boolean() })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), (messages, cuts) => {
        const expected: string[] = []
        const frames = messages.flatMap(({ text: each, fragments, ping }) => {
          const parts = pieces(Buffer.from(each), fragments)
          if (ping && parts.length > 1) expected.push('ping now')
          expected.push(each)
          return parts.flatMap((part, index) => [
            ...(ping && index === 1 ? [serverFrame(9, Buffer.from('now'))] : []),
            serverFrame(index === 0 ? 1 : 0, part, index === parts.length - 1),
          ])
        })
        frames.push(serverFrame(8, Buffer.from([0x03, 0xe9, 0x62, 0x79, 0x65])))
        const seen: string[] = []
        const frameReader = reader(seen)
        for (const piece of pieces(Buffer.concat(frames), cuts)) frameReader.push(Buffer.from(piece))
        assert.deepEqual(seen, [...expected, 'close 1001 bye'])
      }),
    )
  })

  test('of a server that break the rules are refused', () => {
    const refused = (bytes: Buffer, why: RegExp) => assert.throws(() => reader([], 1000).push(bytes), why)
    refused(clientFrame(1, 'masked'), /does not mask/)
    refused(Buffer.from([0xc1, 0]), /reserved bits/)
    refused(Buffer.from([0x83, 0]), /unknown opcode 3/)
    refused(Buffer.from([0x80, 0]), /do not belong together/)
    refused(
      Buffer.concat([serverFrame(1, Buffer.from('a'), false), serverFrame(1, Buffer.from('b'))]),
      /belong together/,
    )
    refused(serverFrame(9, Buffer.alloc(126)), /too long/)
    refused(serverFrame(1, Buffer.alloc(1001)), /larger than 1000/)
    const endless = [serverFrame(1, Buffer.alloc(900), false), serverFrame(0, Buffer.alloc(101))]
    refused(Buffer.concat(endless), /larger than 1000/)
    refused(Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255]), /larger than 1000/)
  })
})
