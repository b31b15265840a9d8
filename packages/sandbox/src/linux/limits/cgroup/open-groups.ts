import { LimitError, type LimitKind, type Limits } from '../limits.ts'
import type { LimitMeans } from '../probe-limits.ts'
import type { Group } from './group.ts'
import type { GroupParent } from './group-parent.ts'

/** The groups of one tree, and in which of them each of these is limited; missing where it is not, or not by a group. */
export interface LimitGroups {
  readonly all: ReadonlyMap<GroupParent, Group>
  readonly memory: Group | undefined
  readonly processes: Group | undefined
  readonly cpu: Group | undefined
  /** Through which all are killed. */
  readonly killing: Group | undefined
}

/** Opens a group wherever a limit needs one, and sets its limit: all of them, or it throws a `LimitError`. */
export function openGroups(limits: Limits, means: LimitMeans): LimitGroups {
  const all = new Map<GroupParent, Group>()
  const openIn = (parent: GroupParent, kind: LimitKind, setLimit: (group: Group) => void = () => {}) => {
    try {
      const group = all.get(parent) ?? parent.open()
      all.set(parent, group)
      setLimit(group)
      return group
    } catch (cause) {
      throw new LimitError(kind, `its control group cannot be set up: ${(cause as Error).message}`, { cause })
    }
  }
  const openFor = (kind: LimitKind, setLimit?: (group: Group, limit: number) => void) => {
    const [way, limit] = [means.of[kind], limits[kind]]
    if (limit === undefined || (way.by !== 'cgroup1' && way.by !== 'cgroup2')) return undefined
    return openIn(way.parent, kind, (group) => setLimit?.(group, limit))
  }
  try {
    const memory = openFor('memoryBytes', (group, limit) => group.limitMemory(limit))
    const processes = openFor('processes', (group, limit) => group.limitProcesses(limit))
    const cpu = openFor('cpuSeconds')
    const any = memory ?? processes ?? cpu
    // Where a timer is enough there need be no group, but out of a group nobody gets away when the time has come.
    const isKilled = any !== undefined || limits.wallMs !== undefined
    const killing = isKilled && means.killing ? openIn(means.killing, 'wallMs') : any
    return { all, memory, processes, cpu, killing }
  } catch (error) {
    for (const group of all.values()) group.remove()
    throw error
  }
}
