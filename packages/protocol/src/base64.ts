import { DecodeError, type Schema, string } from './decode.ts'

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/

/** Bytes as the wire carries them: standard base64 with padding, nothing else in between. */
export const base64: Schema<Uint8Array> = (value) => {
  const text = string(value)
  if (text.length % 4 !== 0) throw new DecodeError('invalid base64: the padding is missing')
  if (!ALPHABET.test(text)) throw new DecodeError('invalid base64: not of the standard alphabet with padding')
  return fromBase64(text)
}

/** Expects what `base64` has checked. */
function fromBase64(text: string): Uint8Array {
  // Bun has the standard method, Node 20 only its Buffer, and old browsers neither.
  const { Buffer } = globalThis as { Buffer?: { from(text: string, encoding: 'base64'): Uint8Array } }
  if (Buffer) return Buffer.from(text, 'base64')
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
