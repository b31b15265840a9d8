import { readFileSync } from 'node:fs'
import { release } from 'node:os'
import { GroupParent } from './cgroup/group-parent.ts'
import { type CgroupView, type Hierarchy, readHierarchies } from './cgroup/hierarchies.ts'
import { findUnifiedParent, mayWrite } from './cgroup/unified-parent.ts'
import { type InheritedLimits, readInheritedLimits } from './inherited-limits.ts'
import type { LimitKind } from './limits.ts'

/** How a limit is enforced, or why it cannot be. */
type LimitWay =
  /** For the whole tree, whatever its members do. */
  | { readonly by: 'cgroup1' | 'cgroup2'; readonly parent: GroupParent }
  /**
   * `fileBytes`: exact, for each file. `cpuSeconds`: exact for each process; their sum is what /proc tells of those
   * that descend from the first one, which misses who was not waited for. `processes`: exact, but only in a user
   * namespace of its own, and nobody learns that it was hit.
   */
  | { readonly by: 'rlimit' }
  | { readonly by: 'timer' }
  | { readonly by: 'none'; readonly reason: string }

export interface LimitMeans {
  readonly of: Readonly<Record<LimitKind, LimitWay>>
  /** Whose children can be killed without one escaping. Every tree that is in a group at all gets one there. */
  readonly killing: GroupParent | undefined
  readonly inherited: InheritedLimits
}

/** What helps where there is no group. */
export const REMEDY =
  'run the server as root, or in a control group of its own (systemd-run --user --scope -p Delegate=yes waldo serve)'

/** Finds out what can be enforced here. Looks only: nothing is changed before the first limit is asked for. */
export function probeLimits(view: CgroupView = readView()): LimitMeans {
  const hierarchies = readHierarchies(view)
  const second = hierarchies.find(({ version }) => version === 2)
  const unified = second && findUnifiedParent(second)
  const first = new FirstVersion(hierarchies)
  const grouped = (controller: string): LimitWay => {
    if (unified?.controllers.includes(controller)) return { by: 'cgroup2', parent: unified.parent }
    return first.wayOf(controller)
  }
  const pids = grouped('pids')
  const killing = unified?.parent ?? (pids.by === 'cgroup1' ? pids.parent : undefined)
  const cpu: LimitWay = unified ? { by: 'cgroup2', parent: unified.parent } : grouped('cpuacct')
  return {
    of: {
      cpuSeconds: cpu.by === 'none' ? { by: 'rlimit' } : cpu,
      memoryBytes: grouped('memory'),
      processes: pids.by === 'none' ? processesWithoutGroups(pids.reason) : pids,
      fileBytes: { by: 'rlimit' },
      wallMs: { by: 'timer' },
    },
    killing,
    inherited: readInheritedLimits(),
  }
}

function readView(): CgroupView {
  return {
    mountinfo: readFileSync('/proc/self/mountinfo', 'latin1'),
    membership: readFileSync('/proc/self/cgroup', 'latin1'),
  }
}

/** One parent for each place: where controllers share a tree, a process can only be in one group for all of them. */
class FirstVersion {
  readonly #hierarchies: readonly Hierarchy[]
  readonly #parents = new Map<string, GroupParent>()

  constructor(hierarchies: readonly Hierarchy[]) {
    this.#hierarchies = hierarchies
  }

  wayOf(controller: string): LimitWay {
    const places = this.#hierarchies.filter(({ controllers }) => controllers.includes(controller))
    const place = places.find(({ own }) => mayWrite(own))?.own
    if (place === undefined) {
      return { by: 'none', reason: `there is no ${controller} control group that we may divide; ${REMEDY}` }
    }
    const parent = this.#parents.get(place) ?? new GroupParent(1, place)
    this.#parents.set(place, parent)
    return { by: 'cgroup1', parent }
  }
}

/** The kernel has a limit of processes per user. In a user namespace it counts who is in there only, since 5.14. */
function processesWithoutGroups(reason: string): LimitWay {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const countsPerNamespace = major > 5 || (major === 5 && minor >= 14)
  if (!countsPerNamespace || isRootOutside()) return { by: 'none', reason }
  return { by: 'rlimit' }
}

/** Root is exempt, and stays root under whatever number it has in a user namespace. */
function isRootOutside(): boolean {
  const uid = process.getuid?.() ?? 0
  return readFileSync('/proc/self/uid_map', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number))
    .some(
      ([inside = 0, outside = 0, length = 0]) => uid >= inside && uid < inside + length && uid - inside + outside === 0,
    )
}
