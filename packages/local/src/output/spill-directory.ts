import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { tryLock } from '../libc.ts'
import { Segment } from './segment.ts'
import { SpillFile } from './spill-file.ts'

const LOCK = 'lock'
/** Longer than anybody needs between making a directory and locking it. */
const UNLOCKED_AGE_MS = 60_000

/**
 * The files that this server's logs overflow to. Each server has a directory of its own below `logs/`, made when it is
 * first needed and locked as long as the server lives; one whose lock is free belongs to the dead.
 */
export class SpillDirectory {
  readonly #logs: string
  #own: string | undefined
  #lock: number | undefined
  #count = 0

  constructor(stateDir: string) {
    this.#logs = join(stateDir, 'logs')
  }

  /** Throws if no private directory can be had. */
  create(): SpillFile {
    this.#own ??= this.#claim()
    return new SpillFile(join(this.#own, `${++this.#count}.log`), Segment.slotBytes)
  }

  /** Removes what servers that are no more have left behind. Never throws: there is always a next start. */
  async sweep(): Promise<void> {
    const { readdir, rm } = await filesystem()
    const names = await readdir(this.#logs).catch(() => [])
    for (const name of names) {
      const directory = join(this.#logs, name)
      if (directory === this.#own || !(await isAbandoned(directory))) continue
      await rm(directory, { recursive: true, force: true }).catch(() => {})
    }
  }

  async remove(): Promise<void> {
    const own = this.#own
    if (own === undefined) return
    this.#own = undefined
    const { rm } = await filesystem()
    await rm(own, { recursive: true, force: true }).catch(() => {})
    if (this.#lock !== undefined) closeSync(this.#lock)
    this.#lock = undefined
  }

  #claim(): string {
    mkdirSync(this.#logs, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(this.#logs)
    // Output is private. In a directory of somebody else's, they could read or swap the files.
    if (uid !== process.getuid?.()) throw new Error(`${this.#logs} belongs to another user`)
    if ((mode & 0o077) !== 0) chmodSync(this.#logs, 0o700)
    const own = join(this.#logs, `${process.pid}-${crypto.randomUUID().slice(0, 8)}`)
    mkdirSync(own, { mode: 0o700 })
    this.#lock = openSync(join(own, LOCK), 'wx', 0o600)
    tryLock(this.#lock)
    return own
  }
}

/** Loaded when it is needed: a server that has just started has better things to do. */
const filesystem = () => import('node:fs/promises')

async function isAbandoned(directory: string): Promise<boolean> {
  const { open, stat } = await filesystem()
  try {
    const lock = await open(join(directory, LOCK), 'r')
    try {
      return tryLock(lock.fd)
    } finally {
      await lock.close()
    }
  } catch {
    const made = await stat(directory).catch(() => undefined)
    return made !== undefined && Date.now() - made.mtimeMs > UNLOCKED_AGE_MS
  }
}
