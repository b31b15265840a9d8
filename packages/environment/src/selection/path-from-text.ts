import { DecodeError, fromPosixPath, fromWindowsPath, joinPath, type PathUri, pathUri } from '@waldo/protocol'
import { ExecError } from '../errors.ts'

/** What Windows allows; other systems allow less. */
const MAX_CHARACTERS = 32_767

/**
 * An absolute path of any system, or a `file:` URI. Which of them it is, and what `..` means, is read from the spelling
 * alone: the path belongs to another machine, and nothing on this one says anything about it.
 */
export function pathFromText(text: string): PathUri {
  if (text.length > MAX_CHARACTERS) {
    throw new ExecError('SELECTION_INVALID', `the path has ${text.length} characters; ${MAX_CHARACTERS} are allowed`)
  }
  try {
    if (/^file:/i.test(text)) return pathUri(text)
    if (text.startsWith('/')) return joinPath(fromPosixPath('/'), text)
    if (/^[A-Za-z]:[\\/]|^\\\\/.test(text)) return pathUri(fromWindowsPath(text))
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new ExecError('SELECTION_INVALID', `\`${text}\` is not a path: ${cause.message}`, { cause })
  }
  throw new ExecError(
    'SELECTION_INVALID',
    `\`${text}\` is not absolute: write a path such as /home/me or C:\\me, or a file: URI`,
  )
}
