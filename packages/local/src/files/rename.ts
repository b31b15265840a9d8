import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs'
import { errorCode, fileError, systemError } from './file-error.ts'
import type { NativePath } from './native-path.ts'

/** Moves a file, a link or a directory within its file system. */
export function rename(source: NativePath, target: NativePath, { overwrite }: { overwrite: boolean }): void {
  try {
    if (overwrite) renameSync(source, target)
    else if (lstatSync(source).isDirectory()) renameNewDirectory(source, target)
    else renameNew(source, target)
  } catch (error) {
    throw fileError(error, ['EXDEV', 'EEXIST', 'ENOTEMPTY', 'EISDIR'].includes(errorCode(error)) ? target : source)
  }
}

/** A second name that must not be there yet, then away with the first: no moment at which something is overwritten. */
function renameNew(source: NativePath, target: NativePath): void {
  linkSync(source, target)
  unlinkSync(source)
}

/** Directories have one name only. The system replaces none that has something in it, so at worst an empty one goes. */
function renameNewDirectory(source: NativePath, target: NativePath): void {
  if (lstatSync(target, { throwIfNoEntry: false })) throw systemError('EEXIST', target)
  renameSync(source, target)
}
