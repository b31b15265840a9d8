import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { PROTECTED_NAMES } from '../policy/bind-policy.ts'
import { nameOf } from '../policy/posix-path.ts'
import { tryLock, whileLocked } from './file-lock.ts'
import type { MountPoint } from './mount-plan.ts'
import { inDirectory } from './no-symlinks.ts'

interface Held {
  readonly point: MountPoint
  count: number
}

/**
 * Empty files and directories on this machine whose only purpose is to be mounted on while a command runs. They are
 * written down before they are made, so that nothing stays behind: not after a crash, which the next server cleans up
 * after, and not when several servers work in the same place, of which the last to leave removes them.
 */
export class MountPoints {
  readonly #directory: string
  readonly #held = new Map<string, Held>()
  #journal: { fd: number; path: string } | undefined

  constructor(stateDir: string) {
    this.#directory = join(stateDir, 'mount-points')
  }

  /** Whether what is there was made by a server for this purpose, and nobody has put anything into it since. */
  isSynthetic(path: string): boolean {
    const isHeld = this.#held.has(path)
    if (!isHeld && !PROTECTED_NAMES.includes(nameOf(path))) return false
    return isEmpty(path) && (isHeld || this.#ofOthers().has(path))
  }

  /** They are there until what is returned is called; nothing is if there are none. Throws if one cannot be made. */
  hold(points: readonly MountPoint[]): (() => void) | undefined {
    if (points.length === 0) return undefined
    if (points.every(({ path }) => this.#held.has(path))) for (const { path } of points) this.#held.get(path)!.count++
    else this.#locked(() => this.#make(points))
    let released = false
    return () => {
      if (released) return
      released = true
      this.#release(points)
    }
  }

  /** Removes what servers that are no more have left behind. */
  sweep(): void {
    if (!lstatSync(this.#directory, { throwIfNoEntry: false })) return
    this.#locked(() => {
      for (const name of journalsIn(this.#directory)) {
        const path = join(this.#directory, name)
        if (path === this.#journal?.path || !isAbandoned(path)) continue
        const left = readJournal(path)
        unlinkSync(path)
        const inUse = this.#ofOthers()
        for (const point of left) if (!inUse.has(point.path) && !this.#held.has(point.path)) removePoint(point)
      }
    })
  }

  close(): void {
    if (!this.#journal) return
    unlinkSync(this.#journal.path)
    closeSync(this.#journal.fd)
    this.#journal = undefined
  }

  #make(points: readonly MountPoint[]): void {
    const added: MountPoint[] = []
    for (const point of points) {
      const held = this.#held.get(point.path)
      if (held) held.count++
      else {
        this.#held.set(point.path, { point, count: 1 })
        added.push(point)
      }
    }
    try {
      this.#write()
      for (const point of added) makePoint(point)
    } catch (error) {
      this.#forget(points)
      throw error
    }
  }

  #release(points: readonly MountPoint[]): void {
    if (points.every(({ path }) => (this.#held.get(path)?.count ?? 0) > 1)) {
      for (const { path } of points) this.#held.get(path)!.count--
    } else {
      try {
        this.#locked(() => this.#forget(points))
      } catch {
        // Somebody does not give the lock back. What is held by nobody any more has to go all the same.
        this.#forget(points)
      }
    }
  }

  #forget(points: readonly MountPoint[]): void {
    const others = this.#ofOthers()
    for (const point of points) {
      const held = this.#held.get(point.path)
      if (!held || --held.count > 0) continue
      this.#held.delete(point.path)
      if (!others.has(point.path)) removePoint(point)
    }
    try {
      this.#write()
    } catch {
      // On a full disk the notes still name what is gone: whoever sweeps finds nothing there.
    }
  }

  #locked<T>(action: () => T): T {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    return whileLocked(join(this.#directory, 'lock'), action)
  }

  #write(): void {
    this.#journal ??= openJournal(this.#directory)
    const { fd } = this.#journal
    const text = JSON.stringify([...this.#held.values()].map(({ point }) => point))
    ftruncateSync(fd, 0)
    writeSync(fd, text, 0)
  }

  /** What other servers that are alive hold. */
  #ofOthers(): Set<string> {
    const paths = new Set<string>()
    for (const name of journalsIn(this.#directory)) {
      const journal = join(this.#directory, name)
      if (journal === this.#journal?.path) continue
      for (const { path } of readJournal(journal)) paths.add(path)
    }
    return paths
  }
}

function openJournal(directory: string): { fd: number; path: string } {
  const path = join(directory, `${process.pid}-${crypto.randomUUID()}.json`)
  const fd = openSync(path, 'wx', 0o600)
  tryLock(fd)
  return { fd, path }
}

function journalsIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'))
  } catch {
    return [] // There has never been one.
  }
}

function readJournal(path: string): MountPoint[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8') || '[]') as MountPoint[]
  } catch {
    return [] // Its server has just left, or it was cut off by a full disk: then it says nothing.
  }
}

function isAbandoned(journal: string): boolean {
  let fd: number
  try {
    fd = openSync(journal, 'r')
  } catch {
    return false
  }
  try {
    return tryLock(fd)
  } finally {
    closeSync(fd)
  }
}

function makePoint({ path, kind }: MountPoint): void {
  try {
    inDirectory(path, (there) => {
      // Somebody outside of the sandbox may want to use the name meanwhile.
      if (kind === 'directory') mkdirSync(there, 0o755)
      else closeSync(openSync(there, 'wx', 0o644))
    })
  } catch (error) {
    // Somebody was faster. If it is not what we would have made, it is mounted over all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Only what is still as empty as we made it. */
function removePoint({ path, kind }: MountPoint): void {
  try {
    inDirectory(path, (there) => {
      if (kind === 'directory') rmdirSync(there)
      else if (isEmpty(there)) unlinkSync(there)
    })
  } catch {
    // It is not empty, not ours to remove any more, or gone already.
  }
}

function isEmpty(path: string): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return false
    return stats.isDirectory() ? readdirSync(path).length === 0 : stats.isFile() && stats.size === 0
  } catch {
    return false
  }
}
