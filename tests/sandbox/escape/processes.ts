import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Empty for a process that is gone, or none of ours to look at. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

const pids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** After the name, which may contain anything: the state is the first, the parent the second. */
const status = (pid: number) =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')

export const isAlive = (pid: number) => !['', 'Z', 'X'].includes(status(pid)[0]!)

export const commandLine = (pid: number) => read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim()

/** The processes with exactly this command line. */
export const processesRunning = (line: string) => pids().filter((pid) => commandLine(pid) === line && isAlive(pid))

/** Ends what has the mark in its environment, which only we put there; returns the command lines. */
export function killMarked(mark: string): string[] {
  const marked = pids().filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(mark) && isAlive(pid))
  const lines = marked.map(commandLine)
  for (const pid of marked) kill(pid)
  return lines
}

/** Also of children that have children. */
export function descendantsOf(pid: number): number[] {
  const children = Map.groupBy(pids(), (each) => Number(status(each)[1]))
  const found: number[] = []
  for (const queue = [pid]; queue.length > 0; ) {
    const next = children.get(queue.pop()!) ?? []
    found.push(...next)
    queue.push(...next)
  }
  return found
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function namespaceOf(pid: number | 'self', kind: 'pid' | 'mnt' | 'user'): string {
  return readlinkSync(`/proc/${pid}/ns/${kind}`)
}
