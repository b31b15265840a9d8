/**
 * System calls on files that `node:fs` does not have. As in `libc.ts`, results that come through memory are read from
 * a copy. None reports why it failed: callers then do the same thing through `node:fs`, which does.
 */
import type { NativePath } from './native-path.ts'

const [i32, i64, u64, pointer] = ['i32', 'i64', 'u64', 'ptr'] as const
const signatures = {
  syscall: { args: [i64, i32, pointer, pointer, u64], returns: i64 },
  preadv2: { args: [i32, pointer, i32, i64, i32], returns: i64 },
  getdents64: { args: [i32, pointer, u64], returns: i64 },
  linkat: { args: [i32, pointer, i32, pointer, i32], returns: i32 },
  renameat2: { args: [i32, pointer, i32, pointer, i32], returns: i32 },
  sync_file_range: { args: [i32, i64, i64, i32], returns: i32 },
  listxattr: { args: [pointer, pointer, u64], returns: i64 },
} as const

/** The same number on all architectures. */
const SYS_OPENAT2 = 437
const AT_FDCWD = -100
const AT_SYMLINK_FOLLOW = 0x400
const RESOLVE_NO_SYMLINKS = 4
const RWF_NOWAIT = 8
const RENAME_NOREPLACE = 1
const RENAME_EXCHANGE = 2
const SYNC_FILE_RANGE_WRITE = 2

export const hasFileCalls = process.platform === 'linux'

let opened: ReturnType<typeof open> | undefined
function open() {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const how = new BigUint64Array(3)
  const vector = new BigUint64Array(2)
  return { ...dlopen('libc.so.6', signatures).symbols, ptr, how, vector }
}
const calls = () => {
  opened ??= open()
  return opened
}

/** Opens a path in which no part is a symbolic link; undefined if that is not possible. */
export function openWithoutSymlinks(path: NativePath, flags: number, mode = 0): number | undefined {
  const { syscall, how, ptr } = calls()
  how[0] = BigInt(flags)
  how[1] = BigInt(mode)
  how[2] = BigInt(RESOLVE_NO_SYMLINKS)
  const fd = Number(syscall(SYS_OPENAT2, AT_FDCWD, ptr(cString(path)), ptr(how), how.byteLength))
  return fd < 0 ? undefined : fd
}

/** Reads what is in memory already. Returns how much that was; undefined if it would have to wait, or cannot say. */
export function readCached(fd: number, into: Uint8Array, offset: number): number | undefined {
  if (!hasFileCalls) return undefined
  const { preadv2, vector, ptr } = calls()
  vector[0] = BigInt(ptr(into))
  vector[1] = BigInt(into.length)
  const read = Number(preadv2(fd, ptr(vector), 1, offset, RWF_NOWAIT))
  return read < 0 ? undefined : read
}

/** The next records of an open directory, as the kernel lays them out; 0 at the end, undefined on failure. */
export function readDirectoryRecords(fd: number, into: Uint8Array): number | undefined {
  const { getdents64, ptr } = calls()
  const read = Number(getdents64(fd, ptr(into), into.length))
  return read < 0 ? undefined : read
}

/** Gives an open file without a name one. */
export function linkDescriptor(fd: number, path: NativePath): boolean {
  const { linkat, ptr } = calls()
  const from = cString(`/proc/self/fd/${fd}`)
  return linkat(AT_FDCWD, ptr(from), AT_FDCWD, ptr(cString(path)), AT_SYMLINK_FOLLOW) === 0
}

/** Moves something to a name that must not be taken. */
export function renameToNew(source: NativePath, target: NativePath): boolean {
  const { renameat2, ptr } = calls()
  return renameat2(AT_FDCWD, ptr(cString(source)), AT_FDCWD, ptr(cString(target)), RENAME_NOREPLACE) === 0
}

/** Each gets what the other name stood for, at once. */
export function exchangeNames(one: NativePath, other: NativePath): boolean {
  const { renameat2, ptr } = calls()
  return renameat2(AT_FDCWD, ptr(cString(one)), AT_FDCWD, ptr(cString(other)), RENAME_EXCHANGE) === 0
}

/** Sends what is only in memory on its way to the disk, without waiting for it to arrive. */
export function startWriteback(fd: number): void {
  calls().sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE)
}

/** Names of the extended attributes (access lists among them) that would not survive if the file were made anew. */
export function extendedAttributes(path: NativePath): string[] {
  if (!hasFileCalls) return []
  const { listxattr, ptr } = calls()
  const name = cString(path)
  const size = Number(listxattr(ptr(name), null, 0))
  if (size <= 0) return []
  const names = Buffer.alloc(size)
  // Should it fail now, the attributes have just changed: there are some.
  if (Number(listxattr(ptr(name), ptr(names), size)) < 0) return ['?']
  return names
    .toString('latin1')
    .split('\0')
    .filter((attribute) => attribute !== '')
}

function cString(path: NativePath): Buffer {
  return Buffer.concat([Buffer.from(path as string), Buffer.of(0)])
}
