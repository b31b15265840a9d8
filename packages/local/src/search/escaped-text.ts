import { isAscii, isUtf8 } from 'node:buffer'

/** What stands for the byte `b` where it is no part of UTF-8: a lone surrogate, which valid text never contains. */
const ESCAPE = 0xdc00
const FIRST_ESCAPE = ESCAPE + 0x80
const LAST_ESCAPE = ESCAPE + 0xff

/**
 * Bytes as text, without loss: UTF-8 becomes what it says, and every byte that is not UTF-8 a lone surrogate, which no
 * set of characters contains. That is how a regular expression over bytes sees such a byte.
 */
export function decodeEscaped(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const units = new Uint16Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const width = sequenceLength(bytes, at)
    if (width === 0) {
      units[length++] = ESCAPE + bytes[at++]!
      continue
    }
    const point = decodeSequence(bytes, at, width)
    at += width
    if (point < 0x10000) units[length++] = point
    else {
      units[length++] = 0xd7c0 + (point >> 10)
      units[length++] = 0xdc00 + (point & 0x3ff)
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le')
}

/** How many bytes a part of such a text was. */
export function escapedByteLength(text: string, start: number, end: number): number {
  let bytes = 0
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4
      at++
    } else bytes += unit >= FIRST_ESCAPE && unit <= LAST_ESCAPE ? 1 : 3
  }
  return bytes
}

/** How long the UTF-8 sequence at `at` is; 0 if there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return 1
  const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  if (lead < 0xc2 || lead > 0xf4 || at + width > bytes.length) return 0
  for (let i = 1; i < width; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  const point = decodeSequence(bytes, at, width)
  const overlong = (width === 3 && point < 0x800) || (width === 4 && point < 0x10000)
  return overlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0 : width
}

function decodeSequence(bytes: Buffer, at: number, width: number): number {
  if (width === 1) return bytes[at]!
  let point = bytes[at]! & (0xff >> (width + 1))
  for (let i = 1; i < width; i++) point = (point << 6) | (bytes[at + i]! & 0x3f)
  return point
}
