import { type LimitGroups, openGroups } from './cgroup/open-groups.ts'
import { enterLimits, enterProcessLimit } from './enter-limits.ts'
import { LimitError, type LimitKind, type Limits } from './limits.ts'
import { PreparedLimits } from './prepared-limits.ts'
import { type LimitMeans, REMEDY } from './probe-limits.ts'

const KINDS: readonly LimitKind[] = ['memoryBytes', 'processes', 'cpuSeconds', 'fileBytes', 'wallMs']
/** Bubblewrap has two processes of its own, one of them in the namespace: the limit is one of the command's. */
const BUBBLEWRAP = { processes: 2, inTheNamespace: 1 }

/** Throws a `LimitError` if one of the limits cannot be enforced. `sandboxed`: it will run under bubblewrap. */
export function prepareLimits(
  limits: Limits,
  means: LimitMeans,
  { sandboxed }: { sandboxed: boolean },
): PreparedLimits {
  for (const kind of KINDS) {
    const limit = limits[kind]
    if (limit === undefined) continue
    // They become part of a script.
    if (!Number.isSafeInteger(limit) || limit < 1) throw new LimitError(kind, 'it must be a positive integer')
    refuseUnenforceable(kind, means, sandboxed)
  }
  const { processes } = limits
  const spare = sandboxed ? BUBBLEWRAP.processes : 0
  const groups = openGroups({ ...limits, processes: processes && processes + spare }, means)
  try {
    const outer = enterLimits({ groups: [...groups.all.values()], ...ownLimits(limits, means, groups) })
    const setsInside = processes !== undefined && means.of.processes.by === 'rlimit'
    const inner = setsInside
      ? enterProcessLimit(Math.min(processes + BUBBLEWRAP.inTheNamespace, means.inherited.processes))
      : []
    return new PreparedLimits(limits, groups, { outer, inner })
  } catch (error) {
    for (const group of groups.all.values()) group.remove()
    throw error
  }
}

function refuseUnenforceable(kind: LimitKind, means: LimitMeans, sandboxed: boolean): void {
  const way = means.of[kind]
  if (way.by === 'none') throw new LimitError(kind, way.reason)
  if (kind === 'processes' && way.by === 'rlimit' && !sandboxed) {
    throw new LimitError(
      kind,
      `outside of a sandbox all processes of this user would count; ask for a sandbox, or ${REMEDY}`,
    )
  }
}

/** The limits of each single process. Nobody can be allowed more than we are ourselves. */
function ownLimits({ cpuSeconds, fileBytes }: Limits, { inherited }: LimitMeans, groups: LimitGroups) {
  // Where the time of all is watched, this is for the case that the watch ends before them.
  const soft = cpuSeconds === undefined ? undefined : cpuSeconds + (groups.cpu ? 1 : 0)
  const most = inherited.cpuSeconds
  return {
    cpuSeconds: soft === undefined ? undefined : { soft: Math.min(soft, most), hard: Math.min(soft + 1, most) },
    fileBytes: fileBytes && Math.min(fileBytes, inherited.fileBytes),
  }
}
