interface Encoders {
  Buffer?: { from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string } }
}

export function encodeBase64(bytes: Uint8Array): string {
  const native = bytes as Uint8Array & { toBase64?(): string }
  // Bun and new browsers have the standard method, Node 20 only its Buffer, and old browsers neither.
  if (native.toBase64) return native.toBase64()
  const { Buffer } = globalThis as unknown as Encoders
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
