import { closeSync, openSync } from 'node:fs'

const LOCK_EX_NB = 2 | 4
/** What is done under a lock takes microseconds; whoever holds one for longer is stuck. */
const PATIENCE_MS = 500

let library: { flock: (fd: number, operation: number) => number } | undefined

/** True if the open file is now locked by us. The lock goes with the descriptor, at the latest with our process. */
export function tryLock(fd: number): boolean {
  library ??= open()
  return library.flock(fd, LOCK_EX_NB) === 0
}

/** Does something while no other process that asks for the same lock does. */
export function whileLocked<T>(path: string, action: () => T): T {
  const fd = openSync(path, 'a', 0o600)
  try {
    const deadline = performance.now() + PATIENCE_MS
    while (!tryLock(fd)) {
      if (performance.now() > deadline) throw new Error(`${path} is locked by another process that does not go on`)
      Bun.sleepSync(1)
    }
    return action()
  } finally {
    closeSync(fd)
  }
}

function open() {
  const { dlopen } = require('bun:ffi') as typeof import('bun:ffi')
  return dlopen('libc.so.6', { flock: { args: ['i32', 'i32'], returns: 'i32' } } as const).symbols
}
