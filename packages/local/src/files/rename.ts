import { lstatSync, renameSync } from 'node:fs'
import { hasFileCalls, renameToNew } from './file-calls.ts'
import { errorCode, fileError, systemError } from './file-error.ts'
import type { NativePath } from './native-path.ts'

/** Moves a file, a link or a directory within its file system. */
export function rename(source: NativePath, target: NativePath, { overwrite }: { overwrite: boolean }): void {
  try {
    if (!overwrite) {
      if (hasFileCalls && renameToNew(source, target)) return
      // For the reason; and on systems that cannot do it in one step, with a moment in between.
      lstatSync(source)
      if (lstatSync(target, { throwIfNoEntry: false })) throw systemError('EEXIST', target)
    }
    renameSync(source, target)
  } catch (error) {
    throw fileError(error, ['EXDEV', 'EEXIST', 'ENOTEMPTY', 'EISDIR'].includes(errorCode(error)) ? target : source)
  }
}
