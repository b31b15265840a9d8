import { closeSync, constants, lstatSync, openSync, type Stats, statSync } from 'node:fs'
import { hasFileCalls, openWithoutSymlinks } from './file-calls.ts'
import { fileError, systemError } from './file-error.ts'
import { joinName, type NativePath, splitName } from './native-path.ts'

/** A place in the file system rather than what is there: needs no permission to read it. Not on macOS. */
export const O_PATH = 0o10000000
const O_CLOEXEC = 0o2000000

/** Opens a file that must not be reached through any symbolic link. */
export function openNoFollow(path: NativePath, flags: number, mode?: number): number {
  return inDirectory(path, (leaf) => {
    const fd = hasFileCalls ? openWithoutSymlinks(path, flags | O_CLOEXEC, mode) : undefined
    // For the reason; and should the path have changed in between, without following anything.
    return fd ?? openSync(leaf, flags | constants.O_NOFOLLOW, mode)
  })
}

/** What is at the path itself. */
export function lstatNoFollow(path: NativePath): Stats {
  return inDirectory(path, (leaf) => lstatSync(leaf))
}

/** Does something to a name in a directory that is reached through no symbolic link. */
export function inDirectory<T>(path: NativePath, act: (leaf: NativePath) => T): T {
  const { leaf, release } = holdDirectory(path)
  try {
    return act(leaf)
  } catch (error) {
    throw fileError(error, path)
  } finally {
    release()
  }
}

/**
 * The same path, below a descriptor of its directory: nobody can put a link into the way any more. Fails if there is
 * one already.
 */
export function holdDirectory(path: NativePath): { leaf: NativePath; release: () => void } {
  const { directory, name } = splitName(path)
  if (!hasFileCalls) {
    refuseLinks(directory)
    return { leaf: path, release: () => {} }
  }
  const fd = openWithoutSymlinks(directory, O_PATH | constants.O_DIRECTORY | O_CLOEXEC)
  if (fd !== undefined) {
    return { leaf: joinName(`/proc/self/fd/${fd}`, name.length === 0 ? '.' : name), release: () => closeSync(fd) }
  }
  try {
    statSync(directory) // Missing, forbidden, or …
  } catch (error) {
    throw fileError(error, path)
  }
  throw systemError('ENOTDIR', path) // … behind a link, or no directory.
}

/** Where the system cannot be asked to do it: as good as it gets, but a link may come in between. */
function refuseLinks(directory: NativePath): void {
  if (lstatSync(directory).isSymbolicLink()) throw systemError('ENOTDIR', directory)
  const { directory: above, name } = splitName(directory)
  if (name.length > 0) refuseLinks(above)
}
