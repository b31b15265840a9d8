import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GroupParent } from './group-parent.ts'
import type { Hierarchy } from './hierarchies.ts'
import { holdsOnlyUs } from './vacate.ts'

const WANTED = ['memory', 'pids']

export interface UnifiedParent {
  readonly parent: GroupParent
  /** Those of `memory` and `pids` that its children have. CPU time is counted, and all are killed, without any. */
  readonly controllers: readonly string[]
}

/**
 * Where our groups can be in version 2. Best is below our own group, under whatever limits that has. If others live
 * there, it cannot hand controllers down; then it is the nearest one above that does so already.
 */
export function findUnifiedParent({ mount, own }: Hierarchy): UnifiedParent | undefined {
  const usable = [own, ...ancestorsWithin(mount, own)].filter(isWritable)
  const found = usable.map((path) => (path === own ? ownAsParent(own) : asItIs(path)))
  return found.reduce<UnifiedParent | undefined>(
    (best, next) => (best && best.controllers.length >= next.controllers.length ? best : next),
    undefined,
  )
}

function ownAsParent(own: string): UnifiedParent {
  const offered = intersection(WANTED, listIn(own, 'cgroup.controllers'))
  const missing = offered.filter((name) => !listIn(own, 'cgroup.subtree_control').includes(name))
  if (missing.length === 0) return { parent: new GroupParent(2, own), controllers: offered }
  // The root of the whole tree, which alone has no type, may have members and hand down.
  const isFree = !existsSync(join(own, 'cgroup.type')) || holdsOnlyUs(own)
  if (!isFree || !mayWrite(join(own, 'cgroup.subtree_control'))) return asItIs(own)
  return { parent: new GroupParent(2, own, missing), controllers: offered }
}

function asItIs(path: string): UnifiedParent {
  const controllers = intersection(WANTED, listIn(path, 'cgroup.subtree_control'))
  return { parent: new GroupParent(2, path), controllers }
}

function ancestorsWithin(mount: string, path: string): string[] {
  return path.startsWith(`${mount}/`) ? [dirname(path), ...ancestorsWithin(mount, dirname(path))] : []
}

/** Whoever moves a process needs the right to do so in the nearest group above both places, too. */
function isWritable(path: string): boolean {
  return mayWrite(path) && mayWrite(join(path, 'cgroup.procs'))
}

export function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function listIn(path: string, file: string): string[] {
  try {
    return readFileSync(join(path, file), 'latin1').trim().split(' ')
  } catch {
    return [] // Not to be read by us: what we do not know to be there we do not count on.
  }
}

function intersection(left: readonly string[], right: readonly string[]): string[] {
  return left.filter((name) => right.includes(name))
}
