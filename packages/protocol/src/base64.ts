import { DecodeError, type Schema, string } from './decode.ts'

/** Bytes as the wire carries them: standard base64 with padding, nothing else in between. */
export const base64: Schema<Uint8Array> = (value) => decodeBase64(string(value))

export function decodeBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0) throw new DecodeError('invalid base64: the padding is missing')
  const bytes = fromBase64(text)
  // The standard method skips white space, and Buffer whatever it does not know.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (bytes?.length !== (text.length / 4) * 3 - padding) {
    throw new DecodeError('invalid base64: not of the standard alphabet with padding')
  }
  return bytes
}

interface Decoders {
  Uint8Array: { fromBase64?(text: string, options: { lastChunkHandling: 'strict' }): Uint8Array }
  Buffer?: { from(text: string, encoding: 'base64'): Uint8Array }
}

/** Bun has the standard method, Node 20 only its Buffer, and old browsers neither. */
function fromBase64(text: string): Uint8Array | undefined {
  const decoders = globalThis as unknown as Decoders
  try {
    if (decoders.Uint8Array.fromBase64) return decoders.Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    // Buffer takes the other alphabet, too. That it skips white space shows in the length.
    if (text.includes('-') || text.includes('_')) return undefined
    if (decoders.Buffer) {
      const { buffer, byteOffset, length } = decoders.Buffer.from(text, 'base64')
      return new Uint8Array(buffer, byteOffset, length)
    }
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined // Which character it was does not matter.
  }
}
