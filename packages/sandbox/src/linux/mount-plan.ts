import type { FileRules } from '../policy/file-rules.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { between, child, depthOf, isBelow, isWithin, parentOf } from '../policy/posix-path.ts'

/** The kernel's part grows faster than their number: a thousand take two seconds. */
const MAX_MOUNTS = 300

/** Empty things that are mounted where there is something to be hidden. */
export interface Masks {
  /** Nobody may open these. */
  readonly deniedFile: string
  readonly deniedDirectory: string
  /** These can be looked into, and are empty. */
  readonly emptyFile: string
  readonly emptyDirectory: string
}

/** Something that must be there on the machine to be mounted on, because a command could make it otherwise. */
export interface MountPoint {
  readonly path: string
  readonly kind: 'directory' | 'file'
}

export interface MountPlan {
  /** What the root is; everything else is put into it. */
  readonly base: 'hidden' | 'read' | 'write'
  /** For bubblewrap, in the order in which they have to come. */
  readonly args: readonly string[]
  readonly mountPoints: readonly MountPoint[]
  /** What is mounted on itself, so that it stays what it is. */
  readonly bound: readonly string[]
  /** Where less may be done than around it. */
  readonly carved: readonly string[]
  /** What the plan was made from: if one of these is something else now, the plan does not hold any more. */
  readonly pinned: readonly string[]
}

export interface MountPlanOptions {
  readonly masks: Masks
  /** What the deny patterns match now. */
  readonly matches: readonly { readonly path: string; readonly isDirectory: boolean }[]
  /** The executor's own files, which no command has to see. */
  readonly hidden: readonly { readonly path: string; readonly isDirectory: boolean }[]
  /** Where symbolic links lead, to be made again where the directory that they are in is not to be seen. */
  readonly targetOf: (link: string) => string
  /** Whether something that is protected, or may not exist yet, exists. */
  readonly look: (path: string) => 'directory' | 'file' | undefined
  /** Whether a name that does not exist has to be kept from being made. */
  readonly couldBeMade: (path: string) => boolean
}

type Step =
  | { readonly path: string; readonly kind: 'read' | 'write' | 'pin' }
  | { readonly path: string; readonly kind: 'deny'; readonly isDirectory: boolean }
  /** Nothing is there, and nothing is to be. */
  | { readonly path: string; readonly kind: 'occupy'; readonly as: MountPoint['kind']; readonly denied: boolean }

/** Which mounts make a tree in which the kernel itself lets through what the rules allow, and nothing else. */
export function planMounts(rules: FileRules, options: MountPlanOptions): MountPlan {
  return new Planner(rules, options).plan()
}

/** These are made anew inside, whatever is said of them. */
const FRESH = ['/proc', '/dev']
const isFresh = (path: string) => FRESH.some((fresh) => isWithin(fresh, path))

class Planner {
  readonly #rules: FileRules
  readonly #options: MountPlanOptions
  readonly #steps = new Map<string, Step>()

  constructor(rules: FileRules, options: MountPlanOptions) {
    this.#rules = rules
    this.#options = options
  }

  plan(): MountPlan {
    for (const rule of this.#rules.rules) {
      if (rule.path === '/' || isFresh(rule.path)) continue
      const outside = this.#rules.decide(parentOf(rule.path)).access
      const { access } = this.#rules.decide(rule.path)
      if (access === outside) this.#pinWhatIsWithin(rule.path, access)
      else if (!rule.exists) this.#occupyFirstMissing(rule.path, access === 'none')
      else this.#set(access === 'none' ? { ...rule, kind: 'deny' } : { path: rule.path, kind: access })
    }
    this.#protectNames()
    for (const match of this.#options.matches) {
      // What is in a directory that is hidden needs no mask, and has no place to be mounted on: unless it is shown itself.
      const isShown = this.#steps.has(match.path) || this.#rules.decide(parentOf(match.path)).access !== 'none'
      if (isShown) this.#set({ ...match, kind: 'deny' })
    }
    for (const each of this.#options.hidden) {
      if (this.#rules.decide(each.path).access !== 'none') this.#set({ ...each, kind: 'deny' })
    }
    for (const step of [...this.#steps.values()]) if (step.kind !== 'write') this.#pinAncestors(step.path)
    const steps = withoutUnreachable([...this.#steps.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path)))
    if (steps.length > MAX_MOUNTS) {
      throw new PolicyError(
        'unenforceable',
        `the profile would take ${steps.length} mounts (at most ${MAX_MOUNTS}): deny whole directories instead of files`,
      )
    }
    const { access } = this.#rules.decide('/')
    const args = [...this.#links(), ...this.#mount(steps)]
    const bound = steps.flatMap(({ kind, path }) => (kind === 'deny' || kind === 'occupy' ? [] : [path]))
    const mountPoints = steps.flatMap((step) => (step.kind === 'occupy' ? [{ path: step.path, kind: step.as }] : []))
    return {
      base: access === 'none' ? 'hidden' : access,
      args,
      mountPoints,
      bound,
      carved: steps.filter((step) => this.#isCarved(step)).map(({ path }) => path),
      pinned: steps.map(({ path }) => path),
    }
  }

  #isCarved({ kind, path }: Step): boolean {
    return (
      kind === 'deny' || kind === 'occupy' || (kind === 'read' && this.#rules.decide(parentOf(path)).access === 'write')
    )
  }

  #set(step: Step): void {
    const other = this.#steps.get(step.path)
    if (other?.kind !== 'deny') this.#steps.set(step.path, step)
  }

  /** A writable directory in a writable one needs no mount of its own, but must stay where its rules are. */
  #pinWhatIsWithin(path: string, access: string): void {
    if (access !== 'write') return
    const inner = this.#rules.rules.some((rule) => isBelow(path, rule.path) && rule.access !== 'write')
    if (inner) this.#set({ path, kind: 'pin' })
  }

  #protectNames(): void {
    for (const rule of this.#rules.rules) {
      for (const name of rule.protects) {
        const path = child(rule.path, name)
        // Said otherwise by an entry of its own, or hidden with everything around it.
        if (this.#rules.decide(path).access !== 'read' || this.#steps.has(path)) continue
        if (this.#options.look(path)) this.#set({ path, kind: 'read' })
        else if (this.#options.couldBeMade(path)) this.#set({ path, kind: 'occupy', as: 'directory', denied: false })
      }
    }
  }

  #occupyFirstMissing(path: string, denied: boolean): void {
    let missing = path
    while (missing !== '/' && !this.#options.look(parentOf(missing))) missing = parentOf(missing)
    const above = parentOf(missing)
    // Where nothing can be made, nothing has to be kept from being made.
    if (this.#rules.decide(above).access !== 'write' || !this.#options.couldBeMade(missing)) return
    if (this.#options.look(above) === 'directory') {
      this.#set({ path: missing, kind: 'occupy', as: missing === path ? 'file' : 'directory', denied })
    } else if (!this.#steps.has(above)) {
      // There is nothing below a file, as long as it is one.
      this.#set({ path: above, kind: 'pin' })
    }
  }

  /**
   * A directory on the way from a writable one to what is not writable in it could be renamed, and another put in its
   * place. What is mounted on cannot: so each is mounted on itself.
   */
  #pinAncestors(path: string): void {
    for (const directory of between('/', path)) {
      if (this.#steps.has(directory) || this.#rules.decide(directory).access !== 'write') continue
      this.#steps.set(directory, { path: directory, kind: 'pin' })
    }
  }

  /** `/bin` is `/usr/bin` on most machines, and a workspace may be known by another name. */
  #links(): string[] {
    // In the machine's own root they are there, even where a pattern denies them: a link cannot be covered.
    if (this.#rules.decide('/').access !== 'none') return []
    const links = new Set(this.#rules.rules.filter(({ access }) => access !== 'deny').flatMap((rule) => rule.links))
    const unseen = [...links].filter((link) => this.#rules.decide(link).access === 'none' && !isFresh(link))
    return unseen.flatMap((link) => ['--symlink', this.#options.targetOf(link), link])
  }

  #mount(steps: readonly Step[]): string[] {
    const args: string[] = []
    const sealed: string[] = []
    const { masks } = this.#options
    for (const step of steps) {
      const { path } = step
      switch (step.kind) {
        case 'write':
        case 'pin':
          args.push('--bind', path, path)
          break
        case 'read':
          args.push('--ro-bind', path, path)
          break
        case 'occupy':
          args.push('--ro-bind', emptyMask(masks, step), path)
          break
        case 'deny': {
          if (!step.isDirectory) args.push('--ro-bind', masks.deniedFile, path)
          else if (!this.#hasSeen(path, steps)) args.push('--ro-bind', masks.deniedDirectory, path)
          else {
            // Something below it is to be seen: it can be passed through, and is sealed when all is in place.
            args.push('--perms', '0111', '--tmpfs', path)
            sealed.push(path)
          }
          break
        }
        default:
          step satisfies never
      }
    }
    for (const path of sealed) args.push('--remount-ro', path)
    return args
  }

  #hasSeen(path: string, steps: readonly Step[]): boolean {
    return steps.some((step) => isBelow(path, step.path) && (step.kind === 'read' || step.kind === 'write'))
  }
}

/**
 * Shallow before deep. In a directory that is covered there is nothing to be kept from anybody, and no place to mount it
 * on; and a directory there that was mounted on itself could be looked into again.
 */
function withoutUnreachable(steps: readonly Step[]): Step[] {
  const kept = new Map<string, Step>()
  for (const step of steps) {
    const outer = between('/', step.path).findLast((directory) => kept.has(directory))
    const isCovered = outer !== undefined && kept.get(outer)!.kind === 'deny'
    if (!isCovered || step.kind === 'read' || step.kind === 'write') kept.set(step.path, step)
  }
  return [...kept.values()]
}

function emptyMask(masks: Masks, { as, denied }: Extract<Step, { kind: 'occupy' }>): string {
  if (as === 'directory') return denied ? masks.deniedDirectory : masks.emptyDirectory
  return denied ? masks.deniedFile : masks.emptyFile
}
