import { readdirSync, readFileSync } from 'node:fs'

/** A process as the system sees it. */
export interface Relative {
  readonly pid: number
  /** A letter of the kernel's. */
  readonly state: string
  readonly group: number
  readonly session: number
}

/** Who has ended by itself does not mind. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, Number(thread)))
  } catch {
    return [] // It has ended.
  }
}

export function childrenOfThread(pid: number, thread: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
    return list === '' ? [] : list.trimEnd().split(' ').map(Number)
  } catch {
    return [] // It has ended, or this system does not tell.
  }
}

/** Undefined if it has ended. */
export function look(pid: number): (Relative & { foregroundGroup: number }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name comes second, in brackets, and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, , group, session, , foregroundGroup] = fields.map(Number) as number[]
    return { pid, state: fields[0]!, group: group!, session: session!, foregroundGroup: foregroundGroup! }
  } catch {
    return undefined
  }
}
