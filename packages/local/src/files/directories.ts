import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { limits } from '@waldo/protocol'
import { Turns } from '../turns.ts'
import { type EntryKind, readDirectoryEntries } from './directory-reader.ts'
import { errorCode, fileError } from './file-error.ts'
import type { IsSlow } from './mount-table.ts'
import { displayPath, joinName, type NativePath, splitName } from './native-path.ts'
import { inDirectory } from './no-symlinks.ts'

export function createDirectory(
  path: NativePath,
  { recursive, followSymlinks }: { recursive: boolean; followSymlinks: boolean },
): void {
  try {
    if (followSymlinks) createFollowing(path, recursive)
    else createNoFollow(path, recursive)
  } catch (error) {
    throw fileError(error, path)
  }
}

function createFollowing(path: NativePath, recursive: boolean): void {
  if (!recursive) return void mkdirSync(path)
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    // Two at once: what counts is that it is there.
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}

/** From above, each step below a descriptor of the one before. */
function createNoFollow(path: NativePath, recursive: boolean): void {
  try {
    inDirectory(path, (leaf) => mkdirSync(leaf))
  } catch (error) {
    if (!recursive) throw error
    if (isThere(path)) return
    const { directory, name } = splitName(path)
    if (!ExecError.is(error, 'FILE_NOT_FOUND') || name.length === 0) throw error
    createNoFollow(directory, true)
    createNoFollow(path, false)
  }
}

function isThere(path: NativePath): boolean {
  try {
    return inDirectory(path, (leaf) => lstatSync(leaf).isDirectory())
  } catch {
    return false // The error that led here says more.
  }
}

interface ListedEntry {
  readonly name: NativePath
  readonly isDirectory: boolean
  readonly isFile: boolean
}

/** In the system's order. Links count as what they lead to; those that lead nowhere are left out. */
export async function readDirectory(path: NativePath, isSlow: IsSlow = () => false): Promise<ListedEntry[]> {
  const listed: ListedEntry[] = []
  const turns = new Turns()
  let count = 0
  try {
    for (const entries of readDirectoryEntries(path)) {
      count += entries.length
      await turns.over()
      if (count > limits.directoryEntries) continue
      for (const { name, kind } of entries) {
        const resolved = kind === 'symlink' || kind === 'unknown' ? followKind(joinName(path, name), isSlow) : kind
        if (resolved) listed.push({ name, isDirectory: resolved === 'directory', isFile: resolved === 'file' })
      }
    }
  } catch (error) {
    throw fileError(error, path)
  }
  if (count > limits.directoryEntries) {
    throw new ExecError(
      'FILE_FAILED',
      `fs/readDirectory returned ${count} entries; limit is ${limits.directoryEntries}: ${displayPath(path)}`,
    )
  }
  return listed
}

/** Undefined for what leads nowhere, for whatever reason. What leads to a slow file system is not looked at. */
function followKind(path: NativePath, isSlow: IsSlow): EntryKind | undefined {
  try {
    if (isSlow(path)) return 'other'
    const stat = statSync(path)
    return stat.isDirectory() ? 'directory' : stat.isFile() ? 'file' : 'other'
  } catch {
    return undefined
  }
}
