import { ExecError } from '@waldo/environment'
import { type ByteString, toByteString } from '../byte-string.ts'
import { displayPath, type NativePath } from '../files/native-path.ts'

/** Without slashes at its end. Throws an `ExecError` unless the path is absolute and one that the system can take. */
export function bytePath(path: NativePath): ByteString {
  const bytes = toByteString(path)
  if (!bytes.startsWith('/')) throw new ExecError('FILE_INVALID', `"${displayPath(path)}" is not an absolute path`)
  // C would take what comes before it for the whole.
  if (bytes.includes('\0')) throw new ExecError('FILE_INVALID', 'a path with a zero byte in it names nothing')
  return bytes.replace(/\/+$/, '') || '/'
}

/** What `node:fs` takes for the path. */
export function pathBytes(path: ByteString): Buffer {
  return Buffer.from(path, 'latin1')
}
