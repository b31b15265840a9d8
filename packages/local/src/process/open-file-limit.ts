import { readFileSync } from 'node:fs'
import { type Limit, nextDescriptor, resourceLimit, setResourceLimit } from '../libc.ts'

/** What a spawn itself may need: a terminal, a handle on the process, the null device. */
const DESCRIPTORS_FOR_A_SPAWN = 16
const USUAL_SOFT_LIMIT = 1024n

/**
 * Bun raises our soft limit of open files as far as it goes. Children must not inherit that: some programs loop over
 * all descriptors they could have, others use `select`. They get the limit that our own parent has.
 */
export class OpenFileLimit {
  readonly #ours: Limit = resourceLimit('openFiles')
  readonly #theirs: Limit = { soft: parentSoftLimit(this.#ours.hard), hard: this.#ours.hard }

  /** Runs `spawn` such that the child gets the lower limit. */
  around<T extends { pid: number }>(spawn: () => T): T {
    if (this.#theirs.soft >= this.#ours.soft) return spawn()
    // A limit is the whole process's: while it is lowered, we ourselves must not need a higher descriptor.
    const next = nextDescriptor()
    if (next < 0 || next + DESCRIPTORS_FOR_A_SPAWN >= this.#theirs.soft) {
      const child = spawn()
      // Takes hold a moment after the child has started.
      setResourceLimit('openFiles', this.#theirs, child.pid)
      return child
    }
    setResourceLimit('openFiles', this.#theirs)
    try {
      return spawn()
    } finally {
      setResourceLimit('openFiles', this.#ours)
    }
  }
}

function parentSoftLimit(hard: bigint): bigint {
  let soft = USUAL_SOFT_LIMIT
  try {
    const [, given] = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${process.ppid}/limits`, 'latin1')) ?? []
    if (given) soft = BigInt(given)
  } catch {
    // No /proc, or the parent is somebody else's: the usual limit is a good guess.
  }
  return soft < hard ? soft : hard
}
