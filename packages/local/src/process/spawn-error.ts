import { statSync } from 'node:fs'
import { ExecError } from '@waldo/environment'

/** The numbers that travel in messages are Linux's; nobody branches on them. */
const TEXTS: Record<string, string> = {
  ENOENT: 'No such file or directory (os error 2)',
  E2BIG: 'Argument list too long (os error 7)',
  ENOEXEC: 'Exec format error (os error 8)',
  EAGAIN: 'Resource temporarily unavailable (os error 11)',
  ENOMEM: 'Cannot allocate memory (os error 12)',
  EACCES: 'Permission denied (os error 13)',
  ENOTDIR: 'Not a directory (os error 20)',
  EMFILE: 'Too many open files (os error 24)',
  ELOOP: 'Too many levels of symbolic links (os error 40)',
  ENAMETOOLONG: 'File name too long (os error 36)',
}

/** There is no process. The message says what could not be found or run. */
export function spawnError(program: string, cwd: string | Uint8Array, cause: unknown): ExecError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  // The system reports a missing program and a missing directory with the same code.
  const badDirectory = directoryProblem(cwd)
  if (badDirectory) return new ExecError('SPAWN_FAILED', `${badDirectory}: working directory ${show(cwd)}`, { cause })
  return new ExecError('SPAWN_FAILED', `${TEXTS[code] ?? (code || message)}: program ${show(program)}`, { cause })
}

function directoryProblem(cwd: string | Uint8Array): string | undefined {
  try {
    return statSync(cwd as string).isDirectory() ? undefined : TEXTS.ENOTDIR
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return TEXTS[code] ?? code
  }
}

function show(path: string | Uint8Array): string {
  const text = typeof path === 'string' ? path : new TextDecoder().decode(path)
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
