import { closeSync, constants, type Dirent, openSync, readdirSync } from 'node:fs'
import { hasFileCalls, readDirectoryRecords } from './file-calls.ts'
import type { NativePath } from './native-path.ts'

export type EntryKind = 'file' | 'directory' | 'symlink' | 'other' | 'unknown'

export interface DirectoryEntry {
  /** Text where it is UTF-8. */
  readonly name: NativePath
  readonly kind: EntryKind
}

/** Enough for a thousand names or more. One for all: nothing in it outlives a step of a reader. */
const records = Buffer.allocUnsafe(64 * 1024)
const [INODE_BYTES, LENGTH_AT, TYPE_AT, NAME_AT] = [8, 16, 18, 19]
const KINDS: Readonly<Record<number, EntryKind>> = { 0: 'unknown', 4: 'directory', 8: 'file', 10: 'symlink' }
const DOT = 0x2e

/**
 * The names in a directory, in the system's order, a few hundred for each step: however many there are, nobody has to
 * wait for all of them. Throws the system's error if it is no directory.
 */
export function* readDirectoryEntries(path: NativePath): Generator<DirectoryEntry[], void> {
  if (!hasFileCalls) {
    yield readdirSync(path, { withFileTypes: true, encoding: 'buffer' }).map(fromDirent)
    return
  }
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK)
  try {
    for (;;) {
      const length = readDirectoryRecords(fd, records)
      if (length === undefined) {
        readdirSync(path) // For the reason. If there is none any more, the directory has just been removed.
        return
      }
      if (length === 0) return
      yield parse(Buffer.from(records.subarray(0, length)))
    }
  } finally {
    closeSync(fd)
  }
}

/** Records are: inode (8), offset (8), length of the record (2), type (1), name, zero. */
function parse(bytes: Buffer): DirectoryEntry[] {
  const entries: DirectoryEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt16LE(at + LENGTH_AT)
    const start = at + NAME_AT
    const end = bytes.indexOf(0, start)
    const isDots = bytes[start] === DOT && (end - start === 1 || (end - start === 2 && bytes[start + 1] === DOT))
    // Inode 0: deleted, on some file systems.
    if (!isDots && bytes.readBigUInt64LE(at + INODE_BYTES - 8) !== 0n) {
      entries.push({ name: readName(bytes, start, end), kind: KINDS[bytes[at + TYPE_AT]!] ?? 'other' })
    }
    at += length
  }
  return entries
}

function readName(bytes: Buffer, start: number, end: number): NativePath {
  const text = bytes.toString('utf8', start, end)
  // Either the name holds this very character, or something that is not UTF-8.
  if (!text.includes('\ufffd') || Buffer.byteLength(text) === end - start) return text
  return Buffer.from(bytes.subarray(start, end))
}

function fromDirent(entry: Dirent<Buffer>): DirectoryEntry {
  const kind = entry.isDirectory()
    ? 'directory'
    : entry.isFile()
      ? 'file'
      : entry.isSymbolicLink()
        ? 'symlink'
        : 'other'
  return { name: readName(entry.name, 0, entry.name.length), kind }
}
