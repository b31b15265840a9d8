import { readdirSync, readFileSync } from 'node:fs'

/** A negative number stands for a group. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** Processes with this as one of their arguments. */
export function processesNaming(argument: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => read(`/proc/${pid}/cmdline`).split('\0').includes(argument)).map(Number)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return '' // It has ended, or is none of our business.
  }
}
