import { readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The kernel refuses larger numbers, and never has as many. */
const MOST_PROCESSES = 4_194_304
/** Without a kill that reaches all at once, those born meanwhile take another look. */
const KILL_PASSES = 5
/** The largest piece in which processes are given memory. If one is refused, the limit is as near as that. */
const HUGE_PAGE_BYTES = 2 << 20

/** A control group of ours: a directory whose files the kernel answers for. */
export class Group {
  readonly version: 1 | 2
  readonly path: string

  constructor(version: 1 | 2, path: string) {
    this.version = version
    this.path = path
  }

  /** A process that writes 0 to this file becomes a member. It must have one thread only, as a shell has. */
  get entrance(): string {
    // Moving whole processes takes a lock of the whole system. Version 1 can move a thread, which does not.
    return join(this.path, this.version === 1 ? 'tasks' : 'cgroup.procs')
  }

  limitMemory(bytes: number): void {
    if (this.version === 2) {
      this.#write('memory.max', bytes)
      // Where swap is not accounted for there is no such file, and in most such places no swap.
      this.#writeIfThere('memory.swap.max', 0)
      // Who is left after one of them was killed could not do anything sensible.
      this.#write('memory.oom.group', 1)
    } else {
      this.#write('memory.limit_in_bytes', bytes)
      // After the other one, which it must not be below.
      if (!this.#writeIfThere('memory.memsw.limit_in_bytes', bytes)) this.#write('memory.swappiness', 0)
    }
  }

  limitProcesses(count: number): void {
    this.#write('pids.max', Math.min(count, MOST_PROCESSES))
  }

  /** How many members the kernel has killed, if ever this group's own limit was reached and not only one above it. */
  memoryKills(): number {
    if (this.version === 2) {
      return this.#field('memory.events', 'oom') > 0 ? this.#field('memory.events', 'oom_kill') : 0
    }
    // There is a counter of how often it was reached, but it stands still where swap is limited as well.
    const most = Number(this.#read('memory.max_usage_in_bytes'))
    const reached = most + HUGE_PAGE_BYTES > Number(this.#read('memory.limit_in_bytes'))
    return reached ? this.#field('memory.oom_control', 'oom_kill') : 0
  }

  /** How often a member could not start another one. */
  refusedForks(): number {
    return this.#field('pids.events', 'max')
  }

  cpuSeconds(): number {
    if (this.version === 2) return this.#field('cpu.stat', 'usage_usec') / 1e6
    return Number(this.#read('cpuacct.usage')) / 1e9
  }

  /** Kills all members. Those that are about to enter get in unharmed. */
  kill(): void {
    if (this.version === 2 && this.#tryWrite('cgroup.kill', 1)) return
    // Where the group can forbid it, nobody is born while we go through the list.
    this.#tryWrite('pids.max', 0)
    for (let pass = 0; pass < KILL_PASSES; pass++) {
      const members = this.#members()
      if (members.length === 0) return
      for (const pid of members) killIfPossible(pid)
    }
  }

  /** False while it has members. */
  remove(): boolean {
    try {
      rmdirSync(this.path)
      return true
    } catch (error) {
      return codeOf(error) === 'ENOENT'
    }
  }

  #members(): number[] {
    // Those that are in no namespace of ours are listed as 0, and 0 would mean ourselves.
    return this.#read('cgroup.procs')
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 1)
  }

  /** The number after a key in a file of lines; 0 where there is none. */
  #field(file: string, key: string): number {
    const line = this.#read(file)
      .split('\n')
      .find((text) => text.startsWith(`${key} `))
    return line === undefined ? 0 : Number(line.slice(key.length + 1))
  }

  /**
   * Empty if it cannot be read: somebody has removed the group, or too many files are open. Nobody must fail for
   * that; whoever watches the group looks again soon.
   */
  #read(file: string): string {
    try {
      return readFileSync(join(this.path, file), 'latin1')
    } catch {
      return ''
    }
  }

  #write(file: string, value: number): void {
    writeFileSync(join(this.path, file), String(value))
  }

  /** For files that not every kernel has. */
  #writeIfThere(file: string, value: number): boolean {
    try {
      writeFileSync(join(this.path, file), String(value), { flag: 'r+' })
      return true
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    }
  }

  /** For one way of several to the same end. */
  #tryWrite(file: string, value: number): boolean {
    try {
      return this.#writeIfThere(file, value)
    } catch {
      return false
    }
  }
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function killIfPossible(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or has become somebody else by a program that may do that, and the group stays until it ends.
  }
}
