import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { LimitGroups } from './cgroup/open-groups.ts'
import { cpuCheck, cpuHit, type LimitCheck, memoryCheck, memoryHit, processesHit, wallCheck } from './limit-checks.ts'
import { LimitWatch } from './limit-watch.ts'
import type { LimitHit, Limits } from './limits.ts'
import { treeCpuSeconds } from './tree-cpu.ts'

/** How long the killed may take to be gone: the kernel has memory to tear down, or waits for a disk. */
const LAST_MS = 5000
const FIRST_WAIT_MS = 2
const LONGEST_WAIT_MS = 100

/** How the first process ended. After a signal, a sandbox reports 128 plus its number. */
export interface Ending {
  readonly exitCode: number | null
  /** Its name, or its number where it has none. */
  readonly signal: string | number | null
}

/** The limits of one command. Whoever has it must release it, also if the command does not start. */
export class PreparedLimits {
  readonly #limits: Limits
  readonly #groups: LimitGroups
  readonly #prefix: readonly string[]
  readonly #innerPrefix: readonly string[]
  #watch: LimitWatch | undefined
  #cause: LimitHit | undefined
  #counts: { memoryKills: number; cpuSeconds: number; refusedForks: number } | undefined
  #released: Promise<void> | undefined

  constructor(limits: Limits, groups: LimitGroups, prefixes: { outer: readonly string[]; inner: readonly string[] }) {
    this.#limits = limits
    this.#groups = groups
    this.#prefix = prefixes.outer
    this.#innerPrefix = prefixes.inner
  }

  /** The whole command line, that of the sandbox included: all that it starts counts. Its program has a full path. */
  wrap(argv: readonly string[]): string[] {
    return [...this.#prefix, ...argv]
  }

  /** For the command line that the sandbox runs: some limits can be set in there only. */
  wrapInside(argv: readonly string[]): string[] {
    return [...this.#innerPrefix, ...argv]
  }

  /**
   * Once it has started. `kill` is called when a limit is hit that the kernel does not enforce: at most once, and
   * possibly when the process has ended already and others of its tree have not.
   */
  watch(pid: number, kill: () => void): void {
    this.#watch = new LimitWatch(this.#checks(pid), (hit) => {
      const isFirst = this.#cause === undefined
      this.#cause ??= hit
      try {
        if (isFirst) kill()
      } finally {
        this.kill()
      }
    })
  }

  /** The limit that it ran into, if any. To be asked once it has ended. */
  hit(ending: Ending): LimitHit | undefined {
    if (this.#cause) return this.#cause
    const { memoryKills, cpuSeconds, refusedForks } = this.#counts ?? this.#count()
    const limits = this.#limits
    return (
      (limits.memoryBytes && memoryHit(limits.memoryBytes, memoryKills)) ||
      (limits.cpuSeconds && (cpuHit(limits.cpuSeconds, cpuSeconds) ?? signalHit(ending, limits, 'SIGXCPU'))) ||
      (limits.fileBytes && signalHit(ending, limits, 'SIGXFSZ')) ||
      (limits.processes && processesHit(limits.processes, refusedForks)) ||
      undefined
    )
  }

  /** Kills everybody who has entered. One that is just being started must be killed by whoever starts it. */
  kill(): void {
    // What they fail at while they are being killed is no limit that they have hit.
    this.#counts ??= this.#count()
    this.#groups.killing?.kill()
  }

  /** Ends whoever is left: nobody stays without limits. Never fails; a group that stays is removed later. */
  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  async #release(): Promise<void> {
    this.#watch?.stop()
    this.#counts ??= this.#count()
    const groups = new Map(this.#groups.all)
    const deadline = performance.now() + LAST_MS
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      for (const [parent, group] of groups) if (group.remove()) groups.delete(parent)
      if (groups.size === 0) return
      if (performance.now() > deadline) break
      this.#groups.killing?.kill()
      await delay(wait)
    }
    for (const [parent, group] of groups) parent.leave(group)
  }

  #checks(pid: number): LimitCheck[] {
    const { wallMs, cpuSeconds, memoryBytes } = this.#limits
    const { cpu, memory } = this.#groups
    const checks: LimitCheck[] = []
    // In version 2 the kernel kills all of them.
    if (memoryBytes && memory?.version === 1) checks.push(memoryCheck(memoryBytes, () => memory.memoryKills()))
    if (cpuSeconds) checks.push(cpuCheck(cpuSeconds, cpu ? () => cpu.cpuSeconds() : () => treeCpuSeconds(pid)))
    if (wallMs) checks.push(wallCheck(wallMs))
    return checks
  }

  #count() {
    const { memory, cpu, processes } = this.#groups
    return {
      memoryKills: memory?.memoryKills() ?? 0,
      cpuSeconds: cpu?.cpuSeconds() ?? 0,
      refusedForks: processes?.refusedForks() ?? 0,
    }
  }
}

/** The kernel says by a signal that a process has reached its own limit. */
function signalHit(ending: Ending, limits: Limits, name: 'SIGXCPU' | 'SIGXFSZ'): LimitHit | undefined {
  if (ending.signal !== name && ending.exitCode !== 128 + constants.signals[name]) return undefined
  return name === 'SIGXCPU'
    ? { kind: 'cpuSeconds', detail: `one process has used ${limits.cpuSeconds} s of CPU time (${name})` }
    : { kind: 'fileBytes', detail: `a file was about to become larger than ${limits.fileBytes} bytes (${name})` }
}
