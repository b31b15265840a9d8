import { closeSync, constants, fstatSync, openSync, read as readCallback, type Stats } from 'node:fs'
import { limits } from '@waldo/protocol'
import { readCached } from './file-calls.ts'
import { fileError, invalid } from './file-error.ts'
import { displayPath, type NativePath } from './native-path.ts'
import { openNoFollow } from './no-symlinks.ts'

/** Read in one go, if it is in memory. Beyond it the system does the work elsewhere while others have their turn. */
const SHORT_BYTES = 128 * 1024
const PIECE_BYTES = 4 * 1024 * 1024

/** A FIFO or a terminal must neither make us wait nor become ours. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** Opens a regular file; the caller closes it. */
export function openForReading(
  path: NativePath,
  { followSymlinks }: { followSymlinks: boolean },
): {
  fd: number
  stat: Stats
} {
  let fd: number
  try {
    fd = followSymlinks ? openSync(path, READ_FLAGS) : openNoFollow(path, READ_FLAGS)
  } catch (error) {
    throw fileError(error, path)
  }
  const stat = fstatSync(fd)
  if (stat.isFile()) return { fd, stat }
  closeSync(fd)
  throw invalid(
    followSymlinks ? `path \`${displayPath(path)}\` is not a file` : `path is not a regular file: ${displayPath(path)}`,
  )
}

/** The whole of a regular file that is small and in memory; undefined for any other. */
export function readSmallFile(path: NativePath, options: { followSymlinks: boolean }): Buffer | undefined {
  const { fd, stat } = openForReading(path, options)
  try {
    if (stat.size > limits.wholeBodyBytes) throw tooLarge(path)
    if (stat.size === 0 || stat.size > SHORT_BYTES) return undefined
    // One byte more than there should be tells the end of the file from a file that grows.
    const buffer = Buffer.allocUnsafe(stat.size + 1)
    return readCached(fd, buffer, 0) === stat.size ? buffer.subarray(0, stat.size) : undefined
  } finally {
    closeSync(fd)
  }
}

/** The whole of a regular file. */
export async function readFile(path: NativePath, options: { followSymlinks: boolean }): Promise<Buffer> {
  const { fd, stat } = openForReading(path, options)
  try {
    if (stat.size > limits.wholeBodyBytes) throw tooLarge(path)
    return await readSlowly(fd, stat.size, path)
  } finally {
    closeSync(fd)
  }
}

/** Files of /proc have no size, and others grow while they are read: the end is where nothing more comes. */
async function readSlowly(fd: number, size: number, path: NativePath): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    if (length === buffer.length) {
      if (length > limits.wholeBodyBytes) throw tooLarge(path)
      buffer = Buffer.concat([buffer], Math.min(Math.max(buffer.length * 2, 64 * 1024), limits.wholeBodyBytes + 1))
    }
    const piece = buffer.subarray(length, length + PIECE_BYTES)
    const read = await readInto(fd, piece, length).catch((error) => {
      throw fileError(error, path)
    })
    if (read === 0) return buffer.subarray(0, length)
    length += read
  }
}

/** Reads at a place, without anybody else having to wait for the disk. */
export function readInto(fd: number, into: Uint8Array, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    readCallback(fd, into, 0, into.length, offset, (error, read) => (error ? reject(error) : resolve(read)))
  })
}

function tooLarge(path: NativePath) {
  return invalid(
    `file is too large to read in one answer: limit is ${limits.wholeBodyBytes} bytes; ` +
      `use fs/open and fs/readBlock: ${displayPath(path)}`,
  )
}
