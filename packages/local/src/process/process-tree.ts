import { becomeSubreaper, reap } from '../libc.ts'
import { childrenOf, childrenOfThread, keepSpareDescriptor, look, type Relative, send } from './relatives.ts'
import { stopTree } from './stop-tree.ts'

/** How often we look for orphans while there are processes that could leave some. */
const SWEEP_MS = 1000
/** Sooner after a process has ended: its children are orphans now. */
const SWEEP_AFTER_EXIT_MS = 50
/** A killed tree is looked at again for children that were born while it was being killed. */
const KILL_PASSES = 5
const KILL_PASS_MS = 10

/** Whoever is to answer for a process; undefined for one that left its session before we saw it. */
type Owner = object | undefined

/** Told which sessions of the operating system have members that descend from us. */
export interface SessionObserver {
  /** A process of ours that is neither a leader nor an orphan, if the observer has one. */
  readonly pid: number | undefined
  watch(session: number): void
  forget(session: number): void
}

/**
 * The processes that descend from us. We are their subreaper: whoever loses its parent becomes our child, so nobody
 * slips away by forking twice. Orphans are reaped when they end, and are ended with the process whose session they are
 * in.
 */
export class ProcessTree {
  readonly #observer: SessionObserver
  readonly #alone: boolean
  /** Children that Bun waits for, each of which leads a session of its own, and on whose behalf they run. */
  readonly #leaders = new Map<number, Owner>()
  /** Those of them that only watch over a command, which is their child's. */
  readonly #monitors = new Set<number>()
  /** Children that we have inherited. */
  readonly #orphans = new Map<number, Relative>()
  /** Sessions whose leader has ended; their members, if any, are orphans or will be. */
  readonly #leaderless = new Map<number, Owner>()
  /** Sessions that have just been killed, and how often we look at them yet. */
  readonly #condemned = new Map<number, number>()
  #killTimer: ReturnType<typeof setTimeout> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #nextSweep = Number.POSITIVE_INFINITY

  /** Not alone: other children of this process, and their orphans, are somebody else's business. */
  constructor(observer: SessionObserver, { alone }: { alone: boolean }) {
    this.#observer = observer
    this.#alone = alone
    becomeSubreaper()
    keepSpareDescriptor()
  }

  add(leader: number, owner: object, { isMonitor = false } = {}): void {
    if (isMonitor) this.#monitors.add(leader)
    this.#leaders.set(leader, owner)
    this.#observer.watch(leader)
    this.#sweepWithin(SWEEP_MS)
  }

  /** A process has ended and Bun has reaped it. What it leaves behind is ours from now on. */
  remove(leader: number): void {
    this.#leaderless.set(leader, this.#leaders.get(leader))
    this.#leaders.delete(leader)
    this.#monitors.delete(leader)
    this.#sweepWithin(SWEEP_AFTER_EXIT_MS)
  }

  /** Sends a signal to what Ctrl-C would reach: the foreground group of the terminal, or the process's own group. */
  interrupt(leader: number, signal: NodeJS.Signals): void {
    const foreground = look(leader)?.foregroundGroup ?? 0
    if (foreground > 0 && foreground !== leader) send(-foreground, signal)
    else if (!this.#monitors.has(leader)) send(-leader, signal)
    else this.#signalInside(leader, signal)
  }

  /** Sends a signal to the process and everything that descends from it, in whatever group or session it is now. */
  signalTree(leader: number, signal: NodeJS.Signals): void {
    // A monitor that is asked to end ends everything at once.
    const leads = this.#leaders.has(leader) && !this.#monitors.has(leader)
    if (leads) send(-leader, signal)
    // Nobody is asked twice: a second one means "at once" to some programs.
    for (const { pid, group } of this.#familyOf(leader)) if (!leads || group !== leader) send(pid, signal)
  }

  /**
   * Kills the process, if it is still there, and everything that descends from it. First it is stopped, and who is
   * stopped has no more children: otherwise one that is born after we have looked, and leaves the session before its
   * parent is killed, would be nobody's whom we know.
   */
  killTree(leader: number): void {
    // Who has lost its parent since the last time is to go with the others.
    this.#sweep()
    const orphans = this.#orphansIn(leader).map(({ pid }) => pid)
    // Not a leader that has ended: its number may be somebody else's by now.
    const roots = this.#leaders.has(leader) ? [leader, ...orphans] : orphans
    stopTree(roots, (members) => {
      const family = members.filter(({ pid }) => pid !== leader)
      this.#kill(leader, family)
    })
  }

  /** Everybody who is in a sandbox. */
  confined(): number[] {
    return [...this.#monitors].flatMap((monitor) => this.#familyOf(monitor).map(({ pid }) => pid))
  }

  /** Kills what processes that have ended left running in their sessions. */
  killOrphansOf(owner: object): void {
    this.#sweep()
    for (const [session, theirs] of this.#leaderless) if (theirs === owner) this.killTree(session)
  }

  /** Kills every descendant, orphans of unknown origin too, until nobody is left, or nobody can be killed. */
  async killAll(): Promise<void> {
    for (let pass = 0; pass < KILL_PASSES; pass++) {
      for (const leader of this.#leaders.keys()) this.#kill(leader, this.#familyOf(leader))
      this.#sweep()
      if (this.#leaders.size + this.#orphans.size === 0) return
      this.#killWithFamilies([...this.#orphans.values()])
      await new Promise((resolve) => setTimeout(resolve, KILL_PASS_MS))
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Who is found in these sessions from now on is killed as well, until nobody is. */
  #condemn(sessions: Iterable<number>): void {
    for (const session of sessions) this.#condemned.set(session, KILL_PASSES)
    this.#killTimer ??= setTimeout(() => this.#killAgain(), KILL_PASS_MS).unref()
  }

  /** What was born between our look and the kill has lost its parent by now: it is our child, in a known session. */
  #killAgain(): void {
    this.#killTimer = undefined
    this.#sweep()
    const left = [...this.#orphans.values()].filter(({ session }) => this.#condemned.has(session))
    this.#killWithFamilies(left)
    const inhabited = new Set(left.map(({ session }) => session))
    for (const [session, passes] of this.#condemned) {
      // Not after the first look, which may have followed the kill at once.
      const isOver = passes === 1 || (passes < KILL_PASSES && !inhabited.has(session))
      if (isOver) this.#condemned.delete(session)
      else this.#condemned.set(session, passes - 1)
    }
    if (this.#condemned.size > 0) this.#condemn([])
  }

  #killWithFamilies(heads: readonly Relative[]): void {
    const pids = heads.map(({ pid }) => pid)
    for (const pid of pids) pids.push(...childrenOf(pid))
    for (const pid of pids.reverse()) send(pid, 'SIGKILL')
  }

  /** Parents come before their children in the family. */
  #kill(leader: number, family: Relative[]): void {
    // Children first: when somebody ends, the kernel makes those go on who are stopped and have nobody else to do it.
    for (const { pid } of family.toReversed()) send(pid, 'SIGKILL')
    if (this.#leaders.has(leader)) send(-leader, 'SIGKILL')
    this.#condemn([leader, ...family.map(({ session }) => session)])
  }

  /** What a monitor watches over has a group of its own, or on a terminal the monitor's, who would die of it. */
  #signalInside(monitor: number, signal: NodeJS.Signals): void {
    const family = this.#familyOf(monitor)
    const [first] = family
    for (const { pid, group } of family) if (group === first?.group) send(pid, signal)
  }

  #orphansIn(session: number): Relative[] {
    return [...this.#orphans.values()].filter((orphan) => orphan.session === session)
  }

  /** Without the leader itself. */
  #familyOf(leader: number): Relative[] {
    const family = this.#orphansIn(leader)
    const parents = [leader, ...family.map(({ pid }) => pid)]
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      for (const pid of childrenOf(parent)) {
        const child = look(pid)
        if (child) family.push(child)
        parents.push(pid)
      }
    }
    return family
  }

  #sweepWithin(ms: number): void {
    const due = performance.now() + ms
    if (this.#timer && this.#nextSweep <= due) return
    clearTimeout(this.#timer)
    this.#nextSweep = due
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sweep()
      if (this.#leaders.size + this.#orphans.size > 0) this.#sweepWithin(SWEEP_MS)
    }, ms)
    this.#timer.unref()
  }

  #isOurs({ session }: Relative): boolean {
    return this.#leaders.has(session) || this.#leaderless.has(session)
  }

  /** Takes in new orphans, reaps those that have ended, and notices when a session has nobody left. */
  #sweep(): void {
    keepSpareDescriptor()
    // Those that we have inherited are the main thread's, as are those that Bun has started.
    for (const pid of childrenOfThread(process.pid, process.pid)) {
      if (this.#leaders.has(pid) || this.#orphans.has(pid) || pid === this.#observer.pid) continue
      const orphan = look(pid)
      if (!orphan || !(this.#alone || this.#isOurs(orphan))) continue
      this.#orphans.set(pid, orphan)
      if (!this.#leaders.has(orphan.session) && !this.#leaderless.has(orphan.session)) {
        this.#observer.watch(orphan.session)
        this.#leaderless.set(orphan.session, undefined)
      }
    }
    for (const pid of this.#orphans.keys()) if (reap(pid)) this.#orphans.delete(pid)
    const inhabited = new Set([...this.#orphans.values()].map(({ session }) => session))
    for (const session of this.#leaderless.keys()) {
      if (inhabited.has(session)) continue
      this.#leaderless.delete(session)
      this.#observer.forget(session)
    }
  }
}
