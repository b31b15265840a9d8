import { lstatSync, promises, rmdirSync, unlinkSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { errorCode, fileError } from './file-error.ts'
import { containsLink } from './metadata.ts'
import type { NativePath } from './native-path.ts'
import { inDirectory } from './no-symlinks.ts'

interface RemoveOptions {
  readonly recursive: boolean
  /** What is not there counts as removed. */
  readonly force: boolean
  readonly followSymlinks: boolean
}

/** Removes a file, a link (never what it leads to), or a directory. */
export function remove(path: NativePath, options: RemoveOptions): undefined | Promise<void> {
  const ignoreMissing = (error: unknown) => {
    const failure = fileError(error, path)
    if (!(options.force && ExecError.is(failure, 'FILE_NOT_FOUND'))) throw failure
  }
  try {
    if (!options.followSymlinks) removeNoFollow(path, options.recursive)
    else if (!removeOne(path, options.recursive)) {
      // The system's own, which never follows a link and keeps nobody waiting.
      return promises.rm(path, { recursive: true }).catch(ignoreMissing)
    }
  } catch (error) {
    ignoreMissing(error)
  }
  return undefined
}

/** False for a directory with something in it, if that is to go too. */
function removeOne(path: NativePath, recursive: boolean): boolean {
  if (!lstatSync(path).isDirectory()) {
    unlinkSync(path)
    return true
  }
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (recursive && (errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST')) return false
    throw error
  }
}

function removeNoFollow(path: NativePath, recursive: boolean): void {
  if (recursive) throw new ExecError('FILE_FAILED', 'recursive no-follow removal is unsupported')
  inDirectory(path, (leaf) => {
    if (lstatSync(leaf).isSymbolicLink()) throw containsLink(path)
    removeOne(leaf, false)
  })
}
