import { closeSync, fstatSync } from 'node:fs'
import { PolicyError } from '../policy/policy-error.ts'
import { nameOf, parentOf } from '../policy/posix-path.ts'

/** The same number on all architectures. */
const SYS_OPENAT2 = 437
const AT_FDCWD = -100
const O_PATH_CLOEXEC = 0o12000000
const RESOLVE_NO_SYMLINKS = 4

let library: ReturnType<typeof open> | undefined

/** Which file or directory a path names that leads through no symbolic link; undefined if it does, or names nothing. */
export function identityWithoutLinks(path: string): string | undefined {
  const fd = openWithoutLinks(path)
  if (fd === undefined) return undefined
  try {
    const { dev, ino } = fstatSync(fd)
    return `${dev}:${ino}`
  } finally {
    closeSync(fd)
  }
}

/**
 * Does something to a name in a directory that is reached through no symbolic link, and that stays the same whatever is
 * renamed meanwhile. Throws if there is a link on the way.
 */
export function inDirectory<T>(path: string, act: (path: string) => T): T {
  const directory = openWithoutLinks(parentOf(path))
  if (directory === undefined) {
    throw new PolicyError('unenforceable', `${parentOf(path)} is not there any more, or a link leads to it`)
  }
  try {
    return act(`/proc/self/fd/${directory}/${nameOf(path)}`)
  } finally {
    closeSync(directory)
  }
}

/** A place rather than what is there; undefined if there is a link on the way, or nothing. */
function openWithoutLinks(path: string): number | undefined {
  library ??= open()
  const how = new BigUint64Array([BigInt(O_PATH_CLOEXEC), 0n, BigInt(RESOLVE_NO_SYMLINKS)])
  const name = Buffer.from(`${path}\0`)
  const { syscall, ptr } = library
  const fd = Number(syscall(SYS_OPENAT2, AT_FDCWD, ptr(name), ptr(how), how.byteLength))
  return fd < 0 ? undefined : fd
}

function open() {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const signature = { args: ['i64', 'i32', 'ptr', 'ptr', 'u64'], returns: 'i64' } as const
  return { ...dlopen('libc.so.6', { syscall: signature }).symbols, ptr }
}
