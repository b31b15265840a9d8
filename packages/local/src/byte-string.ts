import { type NativePath, nativePath } from './files/native-path.ts'

/**
 * A path or a name with one character for each of its bytes. Names need not be UTF-8, and this form keeps them all
 * apart; it concatenates and splits like text, and `<` compares it byte by byte.
 */
export type ByteString = string

const NOT_ASCII = /[\u0080-\u00ff]/

export function toByteString(path: string | Uint8Array): ByteString {
  const bytes =
    typeof path === 'string' ? Buffer.from(path) : Buffer.from(path.buffer, path.byteOffset, path.byteLength)
  return bytes.toString('latin1')
}

export function toNativePath(bytes: ByteString): NativePath {
  return NOT_ASCII.test(bytes) ? nativePath(Buffer.from(bytes, 'latin1')) : bytes
}

export function isAscii(bytes: ByteString): boolean {
  return !NOT_ASCII.test(bytes)
}

export function joinBytes(directory: ByteString, name: ByteString): ByteString {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`
}
