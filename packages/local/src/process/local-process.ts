import { constants } from 'node:os'
import type { ProcessExit, TerminalSize } from '@waldo/protocol'
import type { LastOutput } from '../output/last-output.ts'
import type { OutputLog } from '../output/output-log.ts'
import type { Confinement } from './confinement.ts'
import type { ProcessTree } from './process-tree.ts'
import type { Ending, Spawned } from './spawned.ts'
import type { Stdin } from './stdin.ts'

/** Output that was written before the end usually arrives within this time; `exited` waits for it, to come after it. */
const LAST_OUTPUT_MS = 20
/** A process that was killed is closed after this time even if somebody who escaped still holds its output. */
const ABANDON_MS = 500

export interface Confined {
  readonly confinement: Confinement
  readonly lastOutput: LastOutput
}

interface LocalProcessOptions {
  readonly log: OutputLog
  readonly tree: ProcessTree
  readonly owner: object
  readonly confined: Confined | undefined
}

/** A running or ended process, and the log of what it said. */
export class LocalProcess {
  readonly pid: number
  readonly startedAtMs = Date.now()
  readonly log: OutputLog
  /** Undefined if there is nothing to write to. */
  readonly stdin: Stdin | undefined
  /** Resolves when the log has had its last event. */
  readonly closed: Promise<void>
  readonly #spawned: Spawned
  readonly #tree: ProcessTree
  /** Until it has ended: it holds more than a receipt has to. */
  #confined: Confined | undefined
  #running = true
  #endedBy: ProcessExit['endedBy'] = 'self'
  #killTimer: ReturnType<typeof setTimeout> | undefined

  constructor(spawned: Spawned, { log, tree, owner, confined }: LocalProcessOptions) {
    this.pid = spawned.pid
    this.stdin = spawned.stdin
    this.log = log
    this.#spawned = spawned
    this.#tree = tree
    this.#confined = confined
    tree.add(this.pid, owner, { isMonitor: spawned.isMonitor })
    // At once: from now on its number may be somebody else's.
    void spawned.reaped.then(() => tree.remove(this.pid))
    confined?.confinement.started(this.pid, (endedBy) => this.terminate(endedBy))
    this.closed = this.#untilClosed()
  }

  /** False as soon as the process itself is gone. */
  get running(): boolean {
    return this.#running
  }

  /** Reaches what Ctrl-C would reach. False if this system has no such signal. */
  signal(name: string): boolean {
    if (!Object.hasOwn(constants.signals, name)) return false
    if (this.#running) this.#tree.interrupt(this.pid, name as NodeJS.Signals)
    return true
  }

  /** Ends the process and its descendants: at once, or politely first. True if it was running. */
  terminate(endedBy: ProcessExit['endedBy'], graceMs = 0): boolean {
    if (!this.#running) return false
    if (this.#endedBy === 'self') this.#endedBy = endedBy
    clearTimeout(this.#killTimer)
    if (graceMs > 0) {
      this.#tree.signalTree(this.pid, 'SIGTERM')
      this.#killTimer = setTimeout(() => this.#kill(), graceMs)
    } else this.#kill()
    return true
  }

  /** False if there is no terminal. */
  resize(size: TerminalSize): boolean {
    if (!this.#spawned.resize) return false
    if (this.#running) this.#spawned.resize(size)
    return true
  }

  #kill(): void {
    this.#tree.killTree(this.pid)
    void this.#spawned.exited.then(() => this.#after(ABANDON_MS, () => this.#spawned.abandonOutput()))
  }

  async #untilClosed(): Promise<void> {
    const ending = await this.#spawned.exited
    this.#running = false
    clearTimeout(this.#killTimer)
    this.stdin?.close()
    const atMs = Date.now()
    const exited = () => {
      if (!this.log.exit) this.log.markExited({ ...this.#receipt(ending), atMs })
    }
    this.#after(LAST_OUTPUT_MS, exited)
    await this.#spawned.drained
    exited()
    this.log.markClosed()
  }

  #receipt(ending: Ending): Omit<ProcessExit, 'atMs'> {
    const { code, signal } = ending
    const judged = this.#confined?.confinement.judge(ending, this.#confined.lastOutput.text())
    this.#confined = undefined
    return { code, signal, endedBy: this.#endedBy, ...judged }
  }

  /** Does it later unless everything is over by then. */
  #after(ms: number, action: () => void): void {
    const timer = setTimeout(action, ms)
    void this.#spawned.drained.then(() => clearTimeout(timer))
  }
}
