import { childrenOf, look, lookInside, type Relative, send } from './relatives.ts'

/** Who does not stop in this time is told of as they are. */
const PASSES = 20
const PASS_MS = 1
/** The first of these follow at once: most processes sleep, and stop as soon as they are told. */
const PROMPT_PASSES = 4

/**
 * Stops processes and everything that descends from them, and then tells who they are. Somebody in the middle of a fork
 * stops after it, and who stands still has no more children: so each is looked at again until then.
 */
export function stopTree(roots: readonly number[], whenStill: (members: Relative[]) => void): void {
  const members = new Map<number, Relative>()
  const parents = new Set<number>()
  const moving = new Set<number>()
  const told = new Set<number>()
  const stop = (pid: number) => {
    if (told.has(pid)) return
    told.add(pid)
    moving.add(pid)
    send(pid, 'SIGSTOP')
  }
  const pass = (number: number) => {
    // Children that are found are looked at in the same pass: a set goes on to what is added to it.
    for (const pid of moving) {
      const found = lookInside(pid)
      if (!found || found.standsStill) moving.delete(pid)
      if (!found) members.delete(pid)
      else {
        members.set(pid, found.process)
        if (found.children.length > 0) parents.add(pid)
        for (const child of found.children) stop(child)
      }
    }
    // Once more: the system's list of children leaves some out while others end.
    if (moving.size === 0) for (const parent of parents) for (const child of childrenOf(parent)) stop(child)
    if (moving.size === 0 || number === PASSES) {
      // Who was told last has not been looked at yet, and must not be left behind, stopped.
      for (const pid of moving) {
        const found = look(pid)
        if (found) members.set(pid, found)
      }
      whenStill([...members.values()])
      return
    }
    const next = () => pass(number + 1)
    if (number <= PROMPT_PASSES) setImmediate(next)
    else setTimeout(next, PASS_MS)
  }
  for (const root of roots) stop(root)
  setImmediate(() => pass(1))
}
