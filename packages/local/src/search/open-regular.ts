import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { type ByteString, toNativePath } from '../byte-string.ts'

/** Non-blocking, because what was a file a moment ago may be a FIFO by now, which would not open until someone writes. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Calls `use` with an open regular file. Undefined if it is something else: a FIFO, a device, a socket, a directory.
 * A symlink is an error, unless `follow`.
 */
export function withRegularFile<T>(
  path: ByteString,
  { follow }: { follow: boolean },
  use: (fd: number, stat: Stats) => T,
): T | undefined {
  const fd = openSync(toNativePath(path), follow ? FLAGS : FLAGS | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(fd)
    return stat.isFile() ? use(fd, stat) : undefined
  } finally {
    closeSync(fd)
  }
}

/** From the beginning, until `into` is full or the file ends. Returns what was read. */
export function readFully(fd: number, into: Buffer): Buffer {
  let length = 0
  while (length < into.length) {
    const read = readSync(fd, into, length, into.length - length, length)
    if (read === 0) break
    length += read
  }
  return into.subarray(0, length)
}
