import type { Process } from '@waldo/environment'

const DEFAULT_SIZE = { cols: 80, rows: 24 }

/** The terminal we run in, lent to a process elsewhere: every key goes there. It gets back its settings on every path. */
export class OwnTerminal implements Disposable {
  readonly #isRaw = process.stdin.isTTY === true
  readonly #restore = () => {
    if (this.#isRaw) process.stdin.setRawMode(false)
  }
  #stopFollowing = () => {}

  constructor() {
    if (this.#isRaw) process.stdin.setRawMode(true)
    // Also if we leave in a hurry.
    process.once('exit', this.#restore)
  }

  get size(): { cols: number; rows: number } {
    const output = [process.stdout, process.stderr].find(({ isTTY }) => isTTY)
    const [cols, rows] = output?.getWindowSize() ?? []
    // A terminal that nobody has given a size says 0.
    return cols && rows ? { cols, rows } : DEFAULT_SIZE
  }

  /** Passes every change of size on. `failed` is told if that does not work. */
  follow(child: Process, failed: (error: unknown) => void): void {
    const resize = () => void child.resize(this.size).catch(failed)
    process.on('SIGWINCH', resize)
    this.#stopFollowing = () => process.off('SIGWINCH', resize)
  }

  [Symbol.dispose](): void {
    this.#stopFollowing()
    process.off('exit', this.#restore)
    this.#restore()
  }
}
