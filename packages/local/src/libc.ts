/**
 * The few system calls that neither Bun nor `node:` offers. Each wrapper is a function of numbers: nothing outside
 * this file passes memory to C.
 *
 * The optimizer does not know that a foreign call writes to memory, and may take a value that it has loaded before
 * the call for the one after it. So results that come back through memory are read from a copy (`slice`), which is an
 * opaque call to it.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'

const { i32, u32, u64, pointer } = FFIType
const { symbols } = dlopen(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6', {
  pipe2: { args: [pointer, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  dup: { args: [i32], returns: i32 },
  flock: { args: [i32, i32], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  waitpid: { args: [i32, pointer, i32], returns: i32 },
  prlimit: { args: [i32, u32, pointer, pointer], returns: i32 },
})

const O_CLOEXEC = 0o2000000
const WNOHANG = 1
const LOCK_EX_NB = 2 | 4
const PR_SET_CHILD_SUBREAPER = 36
const RLIMIT_NOFILE = 7

const pair = new Int32Array(2)
const pairPointer = ptr(pair)
const limit = new BigUint64Array(2)
const limitPointer = ptr(limit)

/** A real pipe, where Bun's own `"pipe"` is a socket: `echo > /dev/stderr` works on this one. Neither end is inherited. */
export function createPipe(): { readEnd: number; writeEnd: number } {
  if (symbols.pipe2(pairPointer, O_CLOEXEC) !== 0) {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  }
  const [readEnd, writeEnd] = pair.slice()
  return { readEnd: readEnd!, writeEnd: writeEnd! }
}

export function closeDescriptor(fd: number): void {
  symbols.close(fd)
}

/** The number that the next descriptor will get: all below it are taken. */
export function nextDescriptor(): number {
  const fd = symbols.dup(0)
  if (fd >= 0) symbols.close(fd)
  return fd
}

/** True if this process now holds the lock. It is given back when the descriptor is closed, at the latest at death. */
export function tryLock(fd: number): boolean {
  return symbols.flock(fd, LOCK_EX_NB) === 0
}

/** Orphans among our descendants become our children, instead of init's, so that we see them and can end them. */
export function becomeSubreaper(): boolean {
  return symbols.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0
}

/** True if `pid` is no child of ours any more, because it ended (and is now reaped) or never was one. */
export function reap(pid: number): boolean {
  return symbols.waitpid(pid, null, WNOHANG) !== 0
}

export interface Limit {
  soft: bigint
  hard: bigint
}

/** `pid` 0 is this process. */
export function openFileLimit(pid = 0): Limit {
  symbols.prlimit(pid, RLIMIT_NOFILE, null, limitPointer)
  const [soft, hard] = limit.slice()
  return { soft: soft!, hard: hard! }
}

export function setOpenFileLimit(pid: number, { soft, hard }: Limit): boolean {
  limit[0] = soft
  limit[1] = hard
  return symbols.prlimit(pid, RLIMIT_NOFILE, limitPointer, null) === 0
}
