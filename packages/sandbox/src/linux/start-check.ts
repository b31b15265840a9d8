import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import type { FileRules } from '../policy/file-rules.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { isWithin } from '../policy/posix-path.ts'
import type { MountPlan } from './mount-plan.ts'
import { identityWithoutLinks } from './no-symlinks.ts'

/** On an idle machine it is made within the first of these; on a busy one looking all the time would make it busier. */
const POLLS_MS = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 8]
/** A sandbox is made in milliseconds; on a machine that is very busy it may take longer. */
const PATIENCE_MS = 10_000
const O_CLOEXEC = 0o2000000
/** The number of the system call `read`. */
const READ = process.arch === 'arm64' ? '63' : '0'

/**
 * Holds a sandbox back until we have seen that what is mounted in it is what was meant. Bubblewrap mounts by name; a
 * command in another sandbox, with more rights over the same directories, could put a link there at the right moment.
 */
export class StartCheck {
  /** For bubblewrap, which goes on when it can read from it. */
  readonly descriptor: number
  readonly #ours: number
  /** What each path was when the mounts were planned. */
  readonly #meant: ReadonlyMap<string, string>
  /** Where something has to be mounted, and nowhere else. */
  readonly #mountPoints: readonly string[]
  readonly #files: FileRules
  #closed = false

  constructor({ bound, pinned }: MountPlan, files: FileRules) {
    this.#meant = new Map(bound.map((path) => [path, meantBy(path)]))
    this.#mountPoints = pinned
    this.#files = files
    const { ours, theirs } = createGate()
    this.#ours = ours
    this.descriptor = theirs
  }

  /**
   * False if it must not go on: then it waits until `close`, which is for when it has been killed. `pid` is known once the
   * sandbox has a process; `waitsAt` is the descriptor's number there.
   */
  async passes(pid: () => number | undefined, waitsAt: number): Promise<boolean> {
    const waiting = `${READ} 0x${waitsAt.toString(16)} `
    const deadline = performance.now() + PATIENCE_MS
    for (let polls = 0; performance.now() < deadline && !this.#closed; polls++) {
      const inside = pid()
      if (inside !== undefined && systemCallOf(inside).startsWith(waiting)) return this.#judge(inside)
      const pause = POLLS_MS[Math.min(polls, POLLS_MS.length - 1)]
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    return false
  }

  /** It has ended, or was never started. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#ours)
  }

  /** It was not handed to anybody. */
  discard(): void {
    this.close()
    closeSync(this.descriptor)
  }

  #judge(pid: number): boolean {
    const root = `/proc/${pid}/root`
    try {
      const isMeant =
        this.#mountsAreMeant(pid) &&
        [...this.#meant].every(([path, identity]) => identityOf(`${root}${path}`) === identity)
      if (isMeant) writeSync(this.#ours, '1')
      return isMeant
    } catch {
      return false // It has ended while we looked.
    }
  }

  /** A link on the way leads a mount to another place: then it is missing here, and there something may be written to. */
  #mountsAreMeant(pid: number): boolean {
    const mounts = mountsOf(pid)
    const places = new Set(mounts.map(({ path }) => path))
    if (!this.#mountPoints.every((path) => places.has(path))) return false
    if (this.#files.decide('/').access === 'write') return true
    return mounts.every(({ path, isWritable }) => !isWritable || isFresh(path) || this.#mayWrite(path))
  }

  #mayWrite(path: string): boolean {
    return this.#files.decide(path).access === 'write'
  }
}

/**
 * A pipe whose reader can write to it as well: it never sees its end, even if we die, and so never takes that for an
 * answer.
 */
function createGate(): { ours: number; theirs: number } {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const { symbols } = dlopen('libc.so.6', { pipe2: { args: ['ptr', 'i32'], returns: 'i32' } } as const)
  const pair = new Int32Array(2)
  if (symbols.pipe2(ptr(pair), O_CLOEXEC) !== 0) throw new Error('cannot create a pipe: too many open files')
  // A copy: the optimizer does not know that the call has written to it.
  const [reader, ours] = pair.slice() as unknown as [number, number]
  try {
    return { ours, theirs: openSync(`/proc/self/fd/${reader}`, constants.O_RDWR | O_CLOEXEC) }
  } catch (error) {
    closeSync(ours)
    throw error
  } finally {
    closeSync(reader)
  }
}

function meantBy(path: string): string {
  const identity = identityWithoutLinks(path)
  if (identity !== undefined) return identity
  throw new PolicyError('unenforceable', `${path} is being replaced by another command; try again when that has ended`)
}

/** Made for the sandbox, whatever the profile says. */
function isFresh(path: string): boolean {
  return isWithin('/dev', path) || isWithin('/proc', path)
}

/** Lines are: id parent device root MOUNT-POINT OPTIONS … */
function mountsOf(pid: number): { path: string; isWritable: boolean }[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').trimEnd().split('\n')
  return lines.map((line) => {
    const [, , , , point = '', options = ''] = line.split(' ')
    const bytes = point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    return { path: Buffer.from(bytes, 'latin1').toString(), isWritable: options.split(',').includes('rw') }
  })
}

/** Empty if it is running, or gone. */
function systemCallOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/syscall`, 'latin1')
  } catch {
    return ''
  }
}

export function identityOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.dev}:${stats.ino}` : '-'
}
