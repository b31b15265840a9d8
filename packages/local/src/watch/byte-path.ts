import { ExecError } from '@waldo/environment'

/** A path as the system has it: text where it is UTF-8, bytes where it is not. */
export type NativePath = string | Uint8Array

/**
 * A path or a name with one character for each of its bytes. No name is lost, as in text, and unlike bytes it can be
 * compared, joined, and be the key of a map. `node:fs` calls this encoding latin1.
 */
export type BytePath = string

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Without slashes at its end. Throws an `ExecError` unless the path is absolute and one that the system can take. */
export function bytePath(path: NativePath): BytePath {
  const bytes = (typeof path === 'string' ? Buffer.from(path) : bufferOf(path)).toString('latin1')
  if (!bytes.startsWith('/')) throw new ExecError('FILE_INVALID', `"${displayed(path)}" is not an absolute path`)
  // C would take what comes before it for the whole.
  if (bytes.includes('\0')) throw new ExecError('FILE_INVALID', 'a path with a zero byte in it names nothing')
  return bytes.replace(/\/+$/, '') || '/'
}

export function nativePath(path: BytePath): NativePath {
  const bytes = Buffer.from(path, 'latin1')
  try {
    return UTF8.decode(bytes)
  } catch {
    return bytes
  }
}

/** What `node:fs` takes for the path. */
export function pathBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1')
}

export function join(directory: BytePath, name: BytePath): BytePath {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

function displayed(path: NativePath): string {
  return typeof path === 'string' ? path : bufferOf(path).toString()
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
