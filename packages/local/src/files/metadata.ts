import { chmodSync, closeSync, fstatSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import type { FsMetadata } from '@waldo/protocol'
import { fileError, invalid } from './file-error.ts'
import { displayPath, type NativePath, nativePath } from './native-path.ts'
import { lstatNoFollow, O_PATH, openNoFollow } from './no-symlinks.ts'

/** For a link: that it is one, and what it leads to. */
export function getMetadata(
  path: NativePath,
  { followSymlinks, withMode = false }: { followSymlinks: boolean; withMode?: boolean },
): FsMetadata {
  if (!followSymlinks) {
    const own = lstatNoFollow(path)
    if (own.isSymbolicLink()) throw containsLink(path)
    return describeFile(own, { isSymlink: false, withMode })
  }
  try {
    const own = lstatSync(path)
    const isSymlink = own.isSymbolicLink()
    return describeFile(isSymlink ? statSync(path) : own, { isSymlink, withMode })
  } catch (error) {
    throw fileError(error, path)
  }
}

/** The path without any links. It must exist. */
export function canonicalize(path: NativePath): NativePath {
  try {
    return nativePath(realpathSync.native(path, { encoding: 'buffer' }))
  } catch (error) {
    throw fileError(error, path)
  }
}

export function setMode(path: NativePath, mode: number, { followSymlinks }: { followSymlinks: boolean }): void {
  try {
    if (followSymlinks) {
      chmodSync(path, mode)
      return
    }
    setModeNoFollow(path, mode)
  } catch (error) {
    throw fileError(error, path)
  }
}

/** By a descriptor that needs no permission of the file itself, and of which nobody can make a link any more. */
function setModeNoFollow(path: NativePath, mode: number): void {
  const fd = openNoFollow(path, O_PATH)
  try {
    if (fstatSync(fd).isSymbolicLink()) throw containsLink(path)
    chmodSync(`/proc/self/fd/${fd}`, mode)
  } finally {
    closeSync(fd)
  }
}

export function containsLink(path: NativePath) {
  return invalid(`path contains a symbolic link: ${displayPath(path)}`)
}

function describeFile(stat: Stats, { isSymlink, withMode }: { isSymlink: boolean; withMode: boolean }): FsMetadata {
  return {
    isDirectory: stat.isDirectory(),
    isFile: stat.isFile(),
    isSymlink,
    size: stat.size,
    createdAtMs: Math.trunc(stat.birthtimeMs) || 0,
    modifiedAtMs: Math.trunc(stat.mtimeMs),
    ...(withMode && { mode: stat.mode & 0o7777 }),
  }
}
