import { constants } from 'node:os'
import { ExecError, type ExecErrorCode } from '@waldo/environment'
import { displayPath, type NativePath } from './native-path.ts'

/** What the system's codes mean, in its own words. */
const TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EAGAIN: 'Resource temporarily unavailable',
  EBADF: 'Bad file descriptor',
  EBUSY: 'Device or resource busy',
  EDQUOT: 'Disk quota exceeded',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  EMFILE: 'Too many open files',
  ENAMETOOLONG: 'File name too long',
  ENFILE: 'Too many open files in system',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ETXTBSY: 'Text file busy',
  EXDEV: 'Invalid cross-device link',
}

/** An error of the system as one that callers act on. Whatever is one already stays as it is. */
export function fileError(error: unknown, path: NativePath): ExecError {
  if (ExecError.is(error)) return error
  const code = errorCode(error)
  return new ExecError(kindOf(code), `${describe(error)}: ${displayPath(path)}`, { cause: error })
}

/** The same for an error that we found out ourselves. */
export function systemError(code: keyof typeof constants.errno, path: NativePath): ExecError {
  return fileError(Object.assign(new Error(code), { code }), path)
}

export function errorCode(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

/** `No such file or directory (os error 2)`. */
export function describe(error: unknown): string {
  const code = errorCode(error)
  const number = constants.errno[code as keyof typeof constants.errno]
  const text = TEXTS[code] ?? (error as Error).message
  return number === undefined ? text : `${text} (os error ${number})`
}

export function invalid(message: string): ExecError {
  return new ExecError('FILE_INVALID', message)
}

function kindOf(code: string): ExecErrorCode {
  if (code === 'ENOENT') return 'FILE_NOT_FOUND'
  if (code === 'EACCES' || code === 'EPERM') return 'FILE_DENIED'
  if (code === 'EINVAL' || code === 'ERR_INVALID_ARG_VALUE') return 'FILE_INVALID'
  return 'FILE_FAILED'
}
