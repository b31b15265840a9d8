import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, Group } from './group.ts'
import { vacate } from './vacate.ts'

/** The name that a group of ours has: whose it is, and which. */
const NAME = /^waldo-(\d+)-\d+$/

/** The group below which ours are made. */
export class GroupParent {
  readonly version: 1 | 2
  readonly path: string
  /** What it must hand down to its children, and does not yet. */
  readonly #missing: readonly string[]
  /** Groups with members that did not die. */
  readonly #leftovers = new Set<Group>()
  #isReady = false
  #last = 0

  constructor(version: 1 | 2, path: string, missing: readonly string[] = []) {
    this.version = version
    this.path = path
    this.#missing = missing
  }

  /** Throws what the system says if there cannot be another group. */
  open(): Group {
    if (!this.#isReady) {
      this.#sweep()
      if (this.#missing.length > 0) vacate(this.path, this.#missing)
      this.#isReady = true
    }
    for (const group of this.#leftovers) if (group.remove()) this.#leftovers.delete(group)
    for (;;) {
      const path = join(this.path, `waldo-${process.pid}-${++this.#last}`)
      try {
        mkdirSync(path)
        return new Group(this.version, path)
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
    }
  }

  /** For a group that could not be removed: that is tried again from time to time. */
  leave(group: Group): void {
    this.#leftovers.add(group)
  }

  /** Removes what servers have left behind that were killed. Groups with members stay. */
  #sweep(): void {
    for (const name of readdirSync(this.path)) {
      const [, owner] = NAME.exec(name) ?? []
      if (owner !== undefined && !isAlive(Number(owner))) new Group(this.version, join(this.path, name)).remove()
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}
