import { closeSync, constants, lstatSync, openSync, rmdirSync, unlinkSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { Turns } from '../turns.ts'
import { readDirectoryEntries } from './directory-reader.ts'
import { errorCode, fileError, systemError } from './file-error.ts'
import { containsLink } from './metadata.ts'
import { joinName, type NativePath } from './native-path.ts'
import { inDirectory } from './no-symlinks.ts'

/** Each holds a descriptor. */
const MAX_DEPTH = 512

interface RemoveOptions {
  readonly recursive: boolean
  /** What is not there counts as removed. */
  readonly force: boolean
  readonly followSymlinks: boolean
  /** Throws for what is in a directory and may not be removed. */
  readonly check?: ((path: NativePath) => void) | undefined
}

/** Removes a file, a link (never what it leads to), or a directory. */
export function remove(path: NativePath, options: RemoveOptions): undefined | Promise<void> {
  const ignoreMissing = (error: unknown) => {
    const failure = fileError(error, path)
    if (!(options.force && ExecError.is(failure, 'FILE_NOT_FOUND'))) throw failure
  }
  try {
    if (!options.followSymlinks) removeNoFollow(path, options.recursive)
    else if (!removeOne(path, options.recursive)) return removeTree(path, options.check).catch(ignoreMissing)
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

/** In turns with everybody else. Below descriptors of the directories: where a link takes their place, it ends. */
async function removeTree(path: NativePath, check: RemoveOptions['check']): Promise<void> {
  const turns = new Turns()
  const removeBelow = async (directory: NativePath, known: NativePath, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH) throw systemError('ENAMETOOLONG', path)
    const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      const held = `/proc/self/fd/${fd}`
      for (const entries of readDirectoryEntries(process.platform === 'linux' ? held : directory)) {
        for (const { name, kind } of entries) {
          const below = joinName(process.platform === 'linux' ? held : directory, name)
          const knownBelow = joinName(known, name)
          check?.(knownBelow)
          if (kind === 'directory' || kind === 'unknown') await removeEntry(below, knownBelow, depth)
          else unlinkIfThere(below)
          await turns.over()
        }
      }
    } finally {
      closeSync(fd)
    }
  }
  const removeEntry = async (entry: NativePath, known: NativePath, depth: number): Promise<void> => {
    try {
      if (removeOne(entry, true)) return
      await removeBelow(entry, known, depth + 1)
      rmdirSync(entry)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error // Somebody else is removing it, too.
    }
  }
  await removeBelow(path, path, 0)
  rmdirSync(path)
}

function unlinkIfThere(path: NativePath): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

function removeNoFollow(path: NativePath, recursive: boolean): void {
  if (recursive) throw new ExecError('FILE_FAILED', 'recursive no-follow removal is unsupported')
  inDirectory(path, (leaf) => {
    if (lstatSync(leaf).isSymbolicLink()) throw containsLink(path)
    removeOne(leaf, false)
  })
}
