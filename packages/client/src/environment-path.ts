import { type EnvironmentPath, ExecError } from '@waldo/environment'
import { fromPosixPath, fromWindowsPath, type PathUri, pathUri } from '@waldo/protocol'

/** By its spelling alone: the path belongs to another machine. */
export function toPathUri(path: EnvironmentPath): PathUri {
  const text = String(path)
  try {
    if (/^file:/i.test(text)) return pathUri(text)
  } catch (cause) {
    throw new ExecError('FILE_INVALID', (cause as Error).message, { cause })
  }
  if (text.startsWith('/')) return fromPosixPath(text)
  if (/^[A-Za-z]:[\\/]|^\\\\/.test(text)) return fromWindowsPath(text)
  throw new ExecError('FILE_INVALID', `"${text}" is not an absolute path, and not a file: URI`)
}
