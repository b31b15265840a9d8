import type { FileRules } from '../policy/file-rules.ts'
import { parentOf } from '../policy/posix-path.ts'

interface Running {
  /** Undefined: everything may be written to. */
  readonly files: FileRules | undefined
  count: number
}

const EVERYTHING = 'everything'

/** The rules of the commands that are running. */
export class RunningRules {
  readonly #running = new Map<string, Running>()

  /** Returns what to call when the command has ended. */
  add(files: FileRules | undefined): () => void {
    const key = files?.key ?? EVERYTHING
    const running = this.#running.get(key) ?? { files, count: 0 }
    running.count++
    this.#running.set(key, running)
    return () => {
      if (--running.count === 0) this.#running.delete(key)
    }
  }

  /**
   * Whether one of them may put something else in the place of one of these paths. Not those with the same rules: the
   * same paths are mounted for them, and stay where they are.
   */
  mayReplace(paths: readonly string[], files: FileRules): boolean {
    if (this.#running.size === 0) return false
    return [...this.#running].some(
      ([key, { files: others }]) =>
        key !== files.key && paths.some((path) => (others?.decide(parentOf(path)).access ?? 'write') === 'write'),
    )
  }
}
