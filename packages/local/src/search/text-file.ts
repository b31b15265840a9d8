import type { Stats } from 'node:fs'
import type { ByteString } from '../byte-string.ts'
import { describe } from '../files/file-error.ts'
import { readFully, withRegularFile } from './open-regular.ts'
import type { WalkEntry, WalkError } from './walk.ts'

const MAX_FILE_BYTES = 64 * 1024 * 1024
/** A NUL among so many bytes at the beginning makes a file binary; one that comes later is a character like any other. */
const SNIFFED_BYTES = 8192
const head = Buffer.alloc(SNIFFED_BYTES)

/** A file that a search does not look into. */
export interface SkippedFile {
  readonly kind: 'skipped'
  readonly reason: 'binary' | 'tooLarge'
}

/** What was found out about a file without reading all of it. */
export interface TextFile {
  readonly kind: 'text'
  readonly path: ByteString
  readonly relative: ByteString
  readonly stat: Stats
}

type Looked<T> = T | SkippedFile | WalkError | undefined

/** Undefined if there is nothing to search: the file is empty, or is none any more. Files of `/proc` count as empty. */
export function inspectFile(entry: WalkEntry): Looked<TextFile> {
  return look(entry, (_, stat) => ({ kind: 'text', path: entry.path, relative: entry.relative, stat }))
}

export function readTextFile(entry: Omit<WalkEntry, 'kind'>): Looked<{ kind: 'read'; bytes: Buffer; stat: Stats }> {
  return look(entry, (fd, stat) => ({ kind: 'read', bytes: readFully(fd, Buffer.allocUnsafeSlow(stat.size)), stat }))
}

function look<T>({ path, relative }: Omit<WalkEntry, 'kind'>, use: (fd: number, stat: Stats) => T): Looked<T> {
  try {
    // The root was asked for, so it may be a symlink.
    return withRegularFile(path, { follow: relative === '' }, (fd, stat) => {
      if (stat.size > MAX_FILE_BYTES) return { kind: 'skipped', reason: 'tooLarge' }
      const beginning = readFully(fd, head.subarray(0, Math.min(stat.size, SNIFFED_BYTES)))
      if (beginning.includes(0)) return { kind: 'skipped', reason: 'binary' }
      return beginning.length === 0 ? undefined : use(fd, stat)
    })
  } catch (error) {
    return { kind: 'error', path, message: describe(error) }
  }
}
