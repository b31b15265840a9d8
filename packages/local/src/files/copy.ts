import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  type Stats,
  statSync,
  symlinkSync,
} from 'node:fs'
import { ExecError } from '@waldo/environment'
import { Turns } from '../turns.ts'
import { copyContent } from './copy-content.ts'
import { readDirectoryEntries } from './directory-reader.ts'
import { errorCode, fileError, invalid } from './file-error.ts'
import { displayPath, joinName, type NativePath, splitName } from './native-path.ts'
import { openForReading } from './read-file.ts'
import { realPath } from './real-path.ts'
import { Replacement } from './replacement.ts'

interface CopyOptions {
  readonly recursive: boolean
  /** Throws for what is in a directory and may not be copied, or not there. */
  readonly check?: ((source: NativePath, target: NativePath) => void) | undefined
}

/** Copies a file, a link, or with `recursive` a directory, whose content joins what is in the target already. */
export async function copy(source: NativePath, target: NativePath, { recursive, check }: CopyOptions): Promise<void> {
  const stat = at(source, () => lstatSync(source))
  if (stat.isDirectory()) {
    if (!recursive) throw invalid('fs/copy requires recursive: true when sourcePath is a directory')
    at(target, () => refuseInside(stat, target))
    await copyTree(source, target, stat, check)
  } else if (!(await copyOne(source, target, { stat, mustBeNew: false }))) {
    throw invalid('fs/copy only supports regular files, directories, and symlinks')
  }
}

async function copyTree(
  source: NativePath,
  target: NativePath,
  stat: Stats,
  check: CopyOptions['check'],
): Promise<void> {
  const turns = new Turns()
  const queue: { from: NativePath; to: NativePath; isNew: boolean }[] = []
  /** Parents before their children. */
  const made: [NativePath, number][] = []
  const enter = (from: NativePath, to: NativePath, { mode }: Stats): boolean => {
    const isNew = at(to, () => makeDirectory(to))
    if (isNew) made.push([to, mode])
    queue.push({ from, to, isNew })
    return isNew
  }
  enter(source, target, stat)
  for (let next = queue.pop(); next; next = queue.pop()) {
    const { from, to, isNew } = next
    for (const entries of readDirectoryEntries(from)) {
      for (const { name } of entries) {
        const [below, there] = [joinName(from, name), joinName(to, name)]
        check?.(below, there)
        const own = at(below, () => lstatSync(below, { throwIfNoEntry: false }))
        // Gone meanwhile.
        if (!own) continue
        if (!own.isDirectory()) await copyOne(below, there, { stat: own, mustBeNew: isNew })
        else if (!enter(below, there, own) && isNew) throw twice(there)
        await turns.over()
      }
    }
  }
  for (const [path, mode] of made.reverse()) at(path, () => chmodSync(path, mode & 0o7777))
}

interface Original {
  readonly stat: Stats
  /** Nothing can be there yet but what we have put there. */
  readonly mustBeNew: boolean
}

/** False for what cannot be copied, such as a device. */
async function copyOne(source: NativePath, target: NativePath, { stat, mustBeNew }: Original): Promise<boolean> {
  if (stat.isSymbolicLink()) {
    const link = at(source, () => readlinkSync(source, { encoding: 'buffer' }))
    at(target, () => symlinkSync(link, target))
    return true
  }
  if (!stat.isFile()) return false
  await copyFile(source, target, mustBeNew)
  return true
}

async function copyFile(source: NativePath, target: NativePath, mustBeNew: boolean): Promise<void> {
  const { fd, stat } = openForReading(source, { followSymlinks: true })
  try {
    const there = at(target, () => statSync(target, { throwIfNoEntry: false }))
    if (there && mustBeNew) throw twice(target)
    // Written in place, it would be emptied before it is read.
    if (isSame(stat, there)) return
    const replacement = Replacement.open(target, { mode: stat.mode & 0o777 })
    try {
      const length = await copyContent(fd, replacement.fd)
      if (fstatSync(replacement.fd).isFile()) {
        ftruncateSync(replacement.fd, length)
        keepOwner(replacement.fd, stat)
        fchmodSync(replacement.fd, stat.mode & 0o7777)
      }
    } catch (error) {
      replacement.discard()
      throw fileError(error, target)
    }
    await replacement.commit()
  } finally {
    closeSync(fd)
  }
}

/**
 * Only root can, and has to: a copy of somebody's file would be root's, and one that runs as its owner would run as
 * root. Without the right to, in a sandbox, it cannot be more than ours; nor then can it run as somebody else.
 */
function keepOwner(fd: number, { uid, gid }: Stats): void {
  const own = fstatSync(fd)
  if (process.getuid?.() !== 0 || (own.uid === uid && own.gid === gid)) return
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error
  }
}

function isSame(one: Stats, other: Stats | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino
}

/** Otherwise one of two would be lost: on some systems a name has several spellings. */
function twice(target: NativePath): ExecError {
  return new ExecError('FILE_FAILED', `two names of the source would be one there: ${displayPath(target)}`)
}

/** Whatever its mode will be, we have to be able to put something into it first. False if it was there already. */
function makeDirectory(path: NativePath): boolean {
  try {
    mkdirSync(path, 0o700)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
    return false
  }
  return true
}

/** By what they are and not by what they are called: there are systems on which a name has several spellings. */
function refuseInside(source: Stats, target: NativePath): void {
  for (let path = realPath(target); ; path = splitName(path).directory) {
    if (isSame(source, statSync(path, { throwIfNoEntry: false }))) {
      throw invalid('fs/copy cannot copy a directory to itself or one of its descendants')
    }
    if (splitName(path).name.length === 0) return
  }
}

function at<T>(path: NativePath, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw fileError(error, path)
  }
}
