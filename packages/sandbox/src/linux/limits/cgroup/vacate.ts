import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './group.ts'

/** Members may be born while we move the others. */
const PASSES = 10

/**
 * Makes a group hand controllers down to its children. In version 2 only a group without members may, so ours move
 * to a child first, which stays until we end.
 */
export function vacate(path: string, controllers: readonly string[]): void {
  const wanted = controllers.map((name) => `+${name}`).join(' ')
  for (let pass = 0; ; pass++) {
    try {
      writeFileSync(join(path, 'cgroup.subtree_control'), wanted)
      return
    } catch (error) {
      if (codeOf(error) !== 'EBUSY' || pass === PASSES) throw error
    }
    const refuge = join(path, `waldo-${process.pid}-0`)
    mkdirSync(refuge, { recursive: true })
    for (const pid of membersOf(path)) move(pid, refuge)
  }
}

/** True if everybody in the group is this process or descends from it: whom else should we move about? */
export function holdsOnlyUs(path: string): boolean {
  try {
    return membersOf(path).every(isOurs)
  } catch {
    return false // A group of threads does not list its members.
  }
}

function membersOf(path: string): number[] {
  return readFileSync(join(path, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number)
}

function move(pid: number, group: string): void {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function isOurs(pid: number): boolean {
  for (let ancestor = pid; ancestor > 1 || ancestor === process.pid; ancestor = parentOf(ancestor)) {
    if (ancestor === process.pid) return true
  }
  return false
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name comes second, in brackets, and may itself hold spaces and brackets. The state follows.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return process.pid // It has ended, and is in nobody's way.
  }
}
