import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** Stopped, or ended. */
const STANDS_STILL = new Set(['T', 't', 'Z', 'X'])

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
  return threadsOf(pid).flatMap((thread) => childrenOfThread(pid, thread))
}

export function childrenOfThread(pid: number, thread: number): number[] {
  try {
    const list = withSpare(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'))
    return list === '' ? [] : list.trimEnd().split(' ').map(Number)
  } catch {
    return [] // It has ended, or this system does not tell.
  }
}

/**
 * A process and its children: all that it will ever have, if it stands still. Undefined if it has ended. The first of its
 * threads may end before the others do, and then the process is no zombie, whatever its own state says.
 */
export function lookInside(pid: number): { process: Relative; standsStill: boolean; children: number[] } | undefined {
  const threads = threadsOf(pid)
  const process = look(pid)
  if (!process) return undefined
  const isStill = (thread: number) => {
    const found = thread === pid ? process : look(pid, thread)
    return !found || STANDS_STILL.has(found.state)
  }
  // Before its children: afterwards it could have had another.
  const standsStill = threads.every(isStill)
  return { process, standsStill, children: threads.flatMap((thread) => childrenOfThread(pid, thread)) }
}

/** Undefined if it has ended. */
export function look(pid: number, thread = pid): (Relative & { foregroundGroup: number }) | undefined {
  try {
    const file = thread === pid ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`
    const stat = withSpare(() => readFileSync(file, 'latin1'))
    // The name comes second, in brackets, and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, , group, session, , foregroundGroup] = fields.map(Number) as number[]
    return { pid, state: fields[0]!, group: group!, session: session!, foregroundGroup: foregroundGroup! }
  } catch {
    return undefined
  }
}

function threadsOf(pid: number): number[] {
  try {
    return withSpare(() => readdirSync(`/proc/${pid}/task`)).map(Number)
  } catch {
    return [] // It has ended.
  }
}

/** For when there are no descriptors left: who has to be killed must be found even then. */
let spare: number | undefined

/** To be called again and again: another thread may have taken the place of one that was used. */
export function keepSpareDescriptor(): void {
  try {
    spare ??= openSync('/dev/null', 'r')
  } catch {
    // There is none now.
  }
}

function withSpare<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (spare === undefined || (code !== 'EMFILE' && code !== 'ENFILE')) throw error
    closeSync(spare)
    spare = undefined
    try {
      return read()
    } finally {
      keepSpareDescriptor()
    }
  }
}
