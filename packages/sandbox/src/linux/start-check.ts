import { closeSync, readFileSync, statSync, writeSync } from 'node:fs'
import { PolicyError } from '../policy/policy-error.ts'
import { createChannel } from './netns/libc.ts'
import { identityWithoutLinks } from './no-symlinks.ts'

const POLL_MS = 1
/** A sandbox is made in milliseconds; on a machine that is very busy it may take longer. */
const PATIENCE_MS = 10_000
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

  constructor(paths: readonly string[]) {
    this.#meant = new Map(paths.map((path) => [path, meantBy(path)]))
    const [ours, theirs] = createChannel()
    this.#ours = ours
    this.descriptor = theirs
  }

  /** False if it must not go on. `pid` is known once the sandbox has a process; `waitsAt` is the descriptor's number there. */
  async passes(pid: () => number | undefined, waitsAt: number): Promise<boolean> {
    const waiting = `${READ} 0x${waitsAt.toString(16)} `
    try {
      for (let left = PATIENCE_MS; left > 0; left -= POLL_MS) {
        const inside = pid()
        if (inside !== undefined && systemCallOf(inside).startsWith(waiting)) {
          const root = `/proc/${inside}/root`
          const isMeant = [...this.#meant].every(([path, identity]) => identityOf(`${root}${path}`) === identity)
          if (isMeant) writeSync(this.#ours, '1')
          return isMeant
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      return false
    } finally {
      closeSync(this.#ours)
    }
  }

  /** It has not been handed to anybody. */
  close(): void {
    closeSync(this.#ours)
    closeSync(this.descriptor)
  }

  /** There is nothing to check any more. */
  abandon(): void {
    closeSync(this.#ours)
  }
}

function meantBy(path: string): string {
  const identity = identityWithoutLinks(path)
  if (identity !== undefined) return identity
  throw new PolicyError('unenforceable', `${path} is being replaced by another command; try again when that has ended`)
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
