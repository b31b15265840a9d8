/** Below this, making a view costs more than it saves. */
const WORDWISE_BYTES = 512

/** Undoes the masking of the bytes from `start` to `end`, in place. The lowest byte of `mask` is for the first of them. */
export function unmask(bytes: Uint8Array, start: number, end: number, mask: number): void {
  if (end - start < WORDWISE_BYTES) {
    unmaskBytes(bytes, start, end, mask)
    return
  }
  const aligned = start + (-(bytes.byteOffset + start) & 3)
  unmaskBytes(bytes, start, aligned, mask)
  const key = rotate(mask, aligned - start)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, (end - aligned) >> 2)
  const wordKey = LITTLE_ENDIAN ? key : swap(key)
  for (let i = 0; i < words.length; i++) words[i]! ^= wordKey
  unmaskBytes(bytes, aligned + words.length * 4, end, key)
}

function unmaskBytes(bytes: Uint8Array, start: number, end: number, mask: number): void {
  let at = start
  for (; at + 3 < end; at += 4) {
    bytes[at]! ^= mask
    bytes[at + 1]! ^= mask >> 8
    bytes[at + 2]! ^= mask >> 16
    bytes[at + 3]! ^= mask >> 24
  }
  for (let rest = mask; at < end; at++, rest >>= 8) bytes[at]! ^= rest
}

/** The mask for what comes `bytes` later. */
export function rotate(mask: number, bytes: number): number {
  const bits = (bytes & 3) * 8
  return bits === 0 ? mask : (mask >>> bits) | (mask << (32 - bits))
}

const LITTLE_ENDIAN = new Uint8Array(Int32Array.of(1).buffer)[0] === 1

function swap(word: number): number {
  return new DataView(Int32Array.of(word).buffer).getInt32(0, !LITTLE_ENDIAN)
}
