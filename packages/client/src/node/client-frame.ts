import { randomFillSync } from 'node:crypto'

const MASKED = 0x80
const FIN = 0x80
/** Random bytes are cheaper by the thousand. */
const randomKeys = new Uint32Array(1024)
let nextKey = randomKeys.length

/** A frame as a client sends it: complete, and masked, so that no proxy takes what is in it for something else. */
export function clientFrame(opcode: number, payload: string | Uint8Array): Buffer {
  const length = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length
  const at = length < 126 ? 6 : length < 65_536 ? 8 : 14
  const frame = Buffer.allocUnsafe(at + length)
  frame[0] = FIN | opcode
  if (at === 6) frame[1] = MASKED | length
  else if (at === 8) {
    frame[1] = MASKED | 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = MASKED | 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  const key = randomKey()
  frame.writeUInt32LE(key, at - 4)
  if (typeof payload === 'string') frame.write(payload, at)
  else frame.set(payload, at)
  mask(frame, at, key)
  return frame
}

function randomKey(): number {
  if (nextKey === randomKeys.length) {
    randomFillSync(randomKeys)
    nextKey = 0
  }
  return randomKeys[nextKey++]!
}

function mask(frame: Buffer, start: number, key: number): void {
  const bytes = [key & 0xff, (key >>> 8) & 0xff, (key >>> 16) & 0xff, key >>> 24]
  let at = start
  const byteByByte = (end: number) => {
    for (; at < end; at++) frame[at]! ^= bytes[(at - start) & 3]!
  }
  const offset = frame.byteOffset + start
  const aligned = start + (-offset & 3)
  if (aligned < frame.length) {
    byteByByte(aligned)
    const words = new Uint32Array(frame.buffer, frame.byteOffset + at, (frame.length - at) >>> 2)
    const shift = ((at - start) & 3) * 8
    const rotated = shift === 0 ? key : (key >>> shift) | (key << (32 - shift))
    for (let index = 0; index < words.length; index++) words[index]! ^= rotated
    at += words.length * 4
  }
  byteByByte(frame.length)
}
