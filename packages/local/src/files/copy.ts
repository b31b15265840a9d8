import {
  closeSync,
  fchmodSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  symlinkSync,
} from 'node:fs'
import { Turns } from '../turns.ts'
import { readDirectoryEntries } from './directory-reader.ts'
import { errorCode, fileError, invalid } from './file-error.ts'
import { joinName, type NativePath, nativePath, splitName } from './native-path.ts'
import { openForReading, readInto } from './read-file.ts'
import { Replacement } from './replacement.ts'
import { writeFully } from './write-file.ts'

const PIECE_BYTES = 1024 * 1024
const ZEROS = Buffer.alloc(4096)

/** Copies a file, a link, or with `recursive` a directory, whose content joins what is in the target already. */
export async function copy(
  source: NativePath,
  target: NativePath,
  { recursive }: { recursive: boolean },
): Promise<void> {
  const stat = at(source, () => lstatSync(source))
  if (stat.isDirectory()) {
    if (!recursive) throw invalid('fs/copy requires recursive: true when sourcePath is a directory')
    refuseInside(source, target)
    await copyTree(source, target, stat)
  } else if (!(await copyOne(source, target, stat))) {
    throw invalid('fs/copy only supports regular files, directories, and symlinks')
  }
}

async function copyTree(source: NativePath, target: NativePath, stat: Stats): Promise<void> {
  const turns = new Turns()
  const queue: [NativePath, NativePath, Stats][] = [[source, target, stat]]
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [from, to, { mode }] = next
    at(to, () => makeDirectory(to, mode))
    for (const entries of readDirectoryEntries(from)) {
      for (const { name } of entries) {
        const below = joinName(from, name)
        const own = at(below, () => lstatSync(below, { throwIfNoEntry: false }))
        // Gone meanwhile.
        if (!own) continue
        if (own.isDirectory()) queue.push([below, joinName(to, name), own])
        else await copyOne(below, joinName(to, name), own)
        await turns.over()
      }
    }
  }
}

/** False for what cannot be copied, such as a device. */
async function copyOne(source: NativePath, target: NativePath, stat: Stats): Promise<boolean> {
  if (stat.isSymbolicLink()) {
    const link = at(source, () => readlinkSync(source, { encoding: 'buffer' }))
    at(target, () => symlinkSync(link, target))
    return true
  }
  if (!stat.isFile()) return false
  await copyFile(source, target)
  return true
}

async function copyFile(source: NativePath, target: NativePath): Promise<void> {
  const { fd, stat } = openForReading(source, { followSymlinks: true })
  try {
    const replacement = Replacement.open(target, { mode: stat.mode & 0o777 })
    try {
      const length = await copyContent(fd, replacement.fd)
      ftruncateSync(replacement.fd, length)
      fchmodSync(replacement.fd, stat.mode & 0o7777)
    } catch (error) {
      replacement.discard()
      throw fileError(error, target)
    }
    replacement.commit()
  } finally {
    closeSync(fd)
  }
}

/** Leaves out what is zero, so that a sparse file stays one. Returns the length. */
async function copyContent(from: number, to: number): Promise<number> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let offset = 0; ; ) {
    const read = await readInto(from, piece, offset)
    if (read === 0) return offset
    const content = piece.subarray(0, read)
    if (!isZero(content)) await writeFully(to, content, offset)
    offset += read
  }
}

function isZero(bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; start += ZEROS.length) {
    const part = bytes.subarray(start, start + ZEROS.length)
    if (Buffer.compare(part, ZEROS.subarray(0, part.length)) !== 0) return false
  }
  return true
}

function makeDirectory(path: NativePath, mode: number): void {
  try {
    mkdirSync(path, mode & 0o777)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}

function refuseInside(source: NativePath, target: NativePath): void {
  const real = Buffer.from(realPath(source) as string)
  const inside = Buffer.from(realPath(target) as string)
  const isSame = inside.equals(real)
  const isBelow = inside.subarray(0, real.length + 1).equals(Buffer.concat([real, Buffer.from('/')]))
  if (isSame || isBelow || real.equals(Buffer.from('/'))) {
    throw invalid('fs/copy cannot copy a directory to itself or one of its descendants')
  }
}

/** As far as the path exists. */
function realPath(path: NativePath): NativePath {
  try {
    return nativePath(realpathSync.native(path, { encoding: 'buffer' }))
  } catch (error) {
    const { directory, name } = splitName(path)
    if (errorCode(error) !== 'ENOENT' || name.length === 0) throw fileError(error, path)
    return joinName(realPath(directory), name)
  }
}

function at<T>(path: NativePath, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw fileError(error, path)
  }
}
