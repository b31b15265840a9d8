import type { Process } from '@waldo/environment'
import { UsageError } from '../usage-error.ts'

const DEFAULT_SIZE = { cols: 80, rows: 24 }

/** The terminal we run in, lent to a process elsewhere: every key goes there. It gets back its settings on every path. */
export class OwnTerminal implements Disposable {
  /** As `stty` writes them down; undefined if our input is no terminal. */
  readonly #settings = process.stdin.isTTY ? stty('-g') : undefined
  readonly #restore = () => {
    if (this.#settings !== undefined) stty(this.#settings)
  }
  #stopFollowing = () => {}

  constructor() {
    // Not `setRawMode`: it leaves our terminal translating line feeds that the other one has translated, or must not.
    if (this.#settings !== undefined) stty('raw', '-echo')
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

function stty(...args: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(['stty', ...args], { stdin: 'inherit' })
  // A terminal that was closed meanwhile has no settings any more.
  if (!success && !/Input\/output error/.test(String(stderr))) throw new UsageError(`stty ${args[0]}: ${stderr}`)
  return String(stdout).trim()
}
