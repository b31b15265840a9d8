import { readdirSync, readFileSync } from 'node:fs'

/** In which /proc counts time, on every Linux. */
const TICKS_PER_SECOND = 100
/** A look must not take long, however many there are. */
const MOST_PROCESSES = 2000

/**
 * The CPU time of a process and all that descend from it, with that of the dead whom somebody has waited for. Less
 * than the truth if children end unwaited for: nobody keeps their time.
 */
export function treeCpuSeconds(root: number): number {
  let ticks = 0
  const family = [root]
  for (let next = 0; next < family.length && next < MOST_PROCESSES; next++) {
    ticks += ticksOf(family[next]!)
    for (const child of childrenOf(family[next]!)) family.push(child)
  }
  return ticks / TICKS_PER_SECOND
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name comes second, in brackets, and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // User and system time: its own, and that of the children it has waited for.
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  } catch {
    return 0 // It has ended.
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return [] // It has ended.
  }
}
