/**
 * The few system calls that neither Bun nor `node:` offers. Each wrapper is a function of numbers: nothing outside
 * this file passes memory to C.
 *
 * The optimizer does not know that a foreign call writes to memory, and may take a value that it has loaded before
 * the call for the one after it. So results that come back through memory are read from a copy (`slice`), which is an
 * opaque call to it.
 */
const isLinux = process.platform === 'linux'

const [i32, i64, u64, cstring, pointer] = ['i32', 'i64', 'u64', 'cstring', 'ptr'] as const
const everywhere = {
  close: { args: [i32], returns: i32 },
  dup: { args: [i32], returns: i32 },
  flock: { args: [i32, i32], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  waitpid: { args: [i32, pointer, i32], returns: i32 },
  getrlimit: { args: [i32, pointer], returns: i32 },
  setrlimit: { args: [i32, pointer], returns: i32 },
} as const
const onLinux = {
  ...everywhere,
  pipe2: { args: [pointer, i32], returns: i32 },
  fallocate: { args: [i32, i32, i64, i64], returns: i32 },
  memfd_create: { args: [cstring, i32], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  prlimit: { args: [i32, i32, pointer, pointer], returns: i32 },
} as const
const elsewhere = { ...everywhere, pipe: { args: [pointer], returns: i32 } } as const

/** Opened at the first call: a server that has just started has better things to do. */
const library = once(() => {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const linux = isLinux ? dlopen('libc.so.6', onLinux).symbols : undefined
  const other = isLinux ? undefined : dlopen('libSystem.dylib', elsewhere).symbols
  return { linux, other, common: (linux ?? other)!, pairPointer: ptr(pair), limitPointer: ptr(limit) }
})

const AF_UNIX = 1
const SOCK_STREAM = 1
const O_CLOEXEC = 0o2000000
const MFD_CLOEXEC = 1
const PUNCH_HOLE_KEEP_SIZE = 2 | 1
const WNOHANG = 1
const LOCK_EX_NB = 2 | 4
const PR_SET_CHILD_SUBREAPER = 36
/** Limits of a process, and their numbers. */
const RESOURCES = { openFiles: isLinux ? 7 : 8, coreFile: 4 } as const
export type Resource = keyof typeof RESOURCES

const pair = new Int32Array(2)
const memoryFileName = Buffer.from('waldo\0')
const limit = new BigUint64Array(2)

/** A real pipe, where Bun's own `"pipe"` is a socket: `echo > /dev/stderr` works on this one. Neither end is inherited. */
export function createPipe(): { readEnd: number; writeEnd: number } {
  // Without pipe2 the ends are inheritable, but there Bun's spawn closes whatever it was not told to pass on.
  const { linux, other, pairPointer } = library()
  const failed = linux ? linux.pipe2(pairPointer, O_CLOEXEC) : other!.pipe(pairPointer)
  if (failed !== 0) throw Object.assign(new Error('cannot create a pipe: too many open files'), { code: 'EMFILE' })
  const [readEnd, writeEnd] = pair.slice()
  return { readEnd: readEnd!, writeEnd: writeEnd! }
}

/** Two ends of a stream in both directions. Neither is inherited. */
export function createSocketPair(): { ours: number; theirs: number } {
  const { common, pairPointer } = library()
  // The flag has the same number for sockets; elsewhere it is as with pipes.
  const type = isLinux ? SOCK_STREAM | O_CLOEXEC : SOCK_STREAM
  if (common.socketpair(AF_UNIX, type, 0, pairPointer) !== 0) {
    throw Object.assign(new Error('cannot create a pair of sockets: too many open files'), { code: 'EMFILE' })
  }
  const [ours, theirs] = pair.slice()
  return { ours: ours!, theirs: theirs! }
}

/** A file without a name that lives in memory, as a descriptor; undefined where there is no such thing. */
export function createMemoryFile(): number | undefined {
  const fd = library().linux?.memfd_create(memoryFileName, MFD_CLOEXEC) ?? -1
  return fd < 0 ? undefined : fd
}

/** Gives a part of a file back to the disk. Where the file system cannot do that, nothing happens. */
export function punchHole(fd: number, offset: number, length: number): void {
  library().linux?.fallocate(fd, PUNCH_HOLE_KEEP_SIZE, offset, length)
}

export function closeDescriptor(fd: number): void {
  library().common.close(fd)
}

/** The number that the next descriptor will get: all below it are taken. */
export function nextDescriptor(): number {
  const fd = library().common.dup(0)
  if (fd >= 0) library().common.close(fd)
  return fd
}

/** True if this process now holds the lock. It is given back when the descriptor is closed, at the latest at death. */
export function tryLock(fd: number): boolean {
  return library().common.flock(fd, LOCK_EX_NB) === 0
}

/** Orphans among our descendants become our children instead of init's, so that we see them and can end them. */
export function becomeSubreaper(): boolean {
  return library().linux?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0
}

/** True if `pid` is no child of ours any more, because it has ended (and is now reaped) or never was one. */
export function reap(pid: number): boolean {
  return library().common.waitpid(pid, null, WNOHANG) !== 0
}

export interface Limit {
  readonly soft: bigint
  readonly hard: bigint
}

export function resourceLimit(resource: Resource): Limit {
  const { common, limitPointer } = library()
  common.getrlimit(RESOURCES[resource], limitPointer)
  const [soft, hard] = limit.slice()
  return { soft: soft!, hard: hard! }
}

/** Of this process, or of a child that runs already. */
export function setResourceLimit(resource: Resource, { soft, hard }: Limit, pid?: number): void {
  limit[0] = soft
  limit[1] = hard
  const { common, linux, limitPointer } = library()
  if (pid === undefined) common.setrlimit(RESOURCES[resource], limitPointer)
  else linux?.prlimit(pid, RESOURCES[resource], limitPointer, null)
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
