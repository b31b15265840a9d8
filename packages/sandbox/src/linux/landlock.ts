import { closeSync, constants, openSync, statSync } from 'node:fs'

/** The same numbers on all architectures. */
const SYS = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const
const ASK_VERSION = 1
const PATH_BENEATH = 1
const O_PATH = 0o10000000

/** What changes a file that exists. */
const WRITE_FILE = 1n << 1n
const TRUNCATE = 1n << 14n
/** What changes a directory: to remove and to make each kind of thing in it, and to move things from one to another. */
const CHANGE_DIRECTORY = 0b1_1111_1111n << 4n
const MOVE = 1n << 13n

let library: ReturnType<typeof open> | undefined

/** Which version of Landlock the kernel has; 0 if none, or if it is switched off. */
export function landlockVersion(): number {
  return Math.max(0, call(SYS.createRuleset, 0, 0, ASK_VERSION))
}

/**
 * From now on this thread, and whatever it starts, changes files only below these paths, whatever is mounted where.
 * False if the kernel cannot do that.
 */
export function restrictWrites(paths: readonly string[]): boolean {
  const version = landlockVersion()
  if (version === 0) return false
  const onFiles = version >= 3 ? WRITE_FILE | TRUNCATE : WRITE_FILE
  const onDirectories = onFiles | CHANGE_DIRECTORY | (version >= 2 ? MOVE : 0n)
  const handled = new BigUint64Array([onDirectories])
  const { ptr } = load()
  const ruleset = call(SYS.createRuleset, ptr(handled), handled.byteLength, 0)
  if (ruleset < 0) return false
  try {
    for (const path of paths) allow(ruleset, path, statSync(path).isDirectory() ? onDirectories : onFiles)
    return call(SYS.restrictSelf, ruleset, 0, 0) === 0
  } finally {
    closeSync(ruleset)
  }
}

function allow(ruleset: number, path: string, access: bigint): void {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW)
  try {
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(access, 0)
    rule.writeInt32LE(fd, 8)
    if (call(SYS.addRule, ruleset, PATH_BENEATH, load().ptr(rule)) !== 0) throw new Error(`no rule for ${path}`)
  } finally {
    closeSync(fd)
  }
}

function call(number: number, first: number, second: number, third: number): number {
  return Number(load().syscall(number, first, second, third, 0))
}

function load() {
  library ??= open()
  return library
}

function open() {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const signature = { args: ['i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' } as const
  return { ...dlopen('libc.so.6', { syscall: signature }).symbols, ptr }
}
