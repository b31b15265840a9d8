import { closeSync, fstatSync } from 'node:fs'

/** The same number on all architectures. */
const SYS_OPENAT2 = 437
const AT_FDCWD = -100
const O_PATH_CLOEXEC = 0o12000000
const RESOLVE_NO_SYMLINKS = 4

let library: ReturnType<typeof open> | undefined

/** Which file or directory a path names that leads through no symbolic link; undefined if it does, or names nothing. */
export function identityWithoutLinks(path: string): string | undefined {
  library ??= open()
  const how = new BigUint64Array([BigInt(O_PATH_CLOEXEC), 0n, BigInt(RESOLVE_NO_SYMLINKS)])
  const name = Buffer.from(`${path}\0`)
  const { syscall, ptr } = library
  const fd = Number(syscall(SYS_OPENAT2, AT_FDCWD, ptr(name), ptr(how), how.byteLength))
  if (fd < 0) return undefined
  try {
    const { dev, ino } = fstatSync(fd)
    return `${dev}:${ino}`
  } finally {
    closeSync(fd)
  }
}

function open() {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const signature = { args: ['i64', 'i32', 'ptr', 'ptr', 'u64'], returns: 'i64' } as const
  return { ...dlopen('libc.so.6', { syscall: signature }).symbols, ptr }
}
