import type { Access } from '@waldo/protocol'
import { DenyGlob } from './deny-glob.ts'
import { depthOf, firstNameBelow, isBelow, parentOf } from './posix-path.ts'

/** One path, and what may be done with it and everything below it for which nothing else is said. */
export interface FileRule {
  /** Without symbolic links, as far as it exists. */
  readonly path: string
  readonly access: Access
  /** As whoever made the profile would recognise it. */
  readonly origin: string
  readonly exists: boolean
  readonly isDirectory: boolean
  /** Where the symbolic links are that lead to it from the path that was asked for. */
  readonly links: readonly string[]
  /** Names directly below a writable directory that are only to be read. */
  readonly protects: readonly string[]
}

export interface Decision {
  readonly access: 'none' | 'read' | 'write'
  /** What decided: an entry or a pattern of the profile, or that none speaks of the path. */
  readonly rule: string
  /** Said of this very path, or of one above it; otherwise nothing was said at all. */
  readonly explicit: boolean
}

export interface FileRulesOptions {
  readonly rules: readonly FileRule[]
  readonly globs: readonly DenyGlob[]
  /** How deep below its directory a pattern is looked for. */
  readonly globDepth: number | undefined
}

const RANK: Readonly<Record<Access, number>> = { deny: 2, write: 1, read: 0 }

/** Which paths may be read and written. Pure: it asks no file system. */
export class FileRules {
  readonly globs: readonly DenyGlob[]
  readonly globDepth: number | undefined
  /** Outermost first. */
  readonly rules: readonly FileRule[]
  readonly #byPath = new Map<string, FileRule>()

  constructor({ rules, globs, globDepth }: FileRulesOptions) {
    this.globs = globs
    this.globDepth = globDepth
    for (const rule of rules) {
      const other = this.#byPath.get(rule.path)
      this.#byPath.set(rule.path, other ? together(other, rule) : rule)
    }
    this.rules = [...this.#byPath.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path) || compare(a.path, b.path))
  }

  /** For another process of this program. */
  toJSON(): object {
    return { rules: this.rules, globs: this.globs.map(({ pattern }) => pattern), globDepth: this.globDepth }
  }

  static fromJSON(value: object): FileRules {
    const { rules, globs, globDepth } = value as { rules: FileRule[]; globs: string[]; globDepth?: number }
    return new FileRules({ rules, globs: globs.flatMap((pattern) => DenyGlob.parse(pattern)), globDepth })
  }

  /** Nothing is out of reach for reading. */
  get readsEverything(): boolean {
    const root = this.#byPath.get('/')
    return (
      root !== undefined &&
      root.access !== 'deny' &&
      this.globs.length === 0 &&
      this.rules.every(({ access }) => access !== 'deny')
    )
  }

  /** Nothing is out of reach at all. */
  get writesEverything(): boolean {
    return (
      this.#byPath.get('/')?.access === 'write' &&
      this.globs.length === 0 &&
      this.rules.every(({ access }) => access === 'write')
    )
  }

  /** For a path without symbolic links: the rule that names most of it decides, and patterns above all. */
  decide(path: string): Decision {
    const glob = this.globs.find((each) => each.matches(path))
    if (glob) return { access: 'none', rule: `deny ${glob.pattern}`, explicit: true }
    const rule = this.#nearest(path)
    if (!rule) return { access: 'none', rule: 'not in the profile', explicit: false }
    if (rule.access === 'deny') return { access: 'none', rule: `deny ${rule.origin}`, explicit: true }
    if (rule.access === 'write' && isBelow(rule.path, path)) {
      const name = firstNameBelow(rule.path, path)
      // In whatever case: there are file systems that make no difference, and nobody else has a `.GIT`.
      if (rule.protects.includes(name.toLowerCase()))
        return { access: 'read', rule: `protected name ${name}`, explicit: true }
    }
    return { access: rule.access, rule: `${rule.access} ${rule.origin}`, explicit: true }
  }

  /** The same for rules that mean the same, in whatever order they came. */
  get key(): string {
    const rules = this.rules.map(({ path, access, exists, isDirectory, links, protects }) => [
      path,
      access,
      exists,
      isDirectory,
      [...links].sort(),
      [...protects].sort(),
    ])
    const globs = this.globs.map(({ pattern }) => pattern).sort()
    return JSON.stringify({ rules, globs: [...new Set(globs)], depth: globs.length > 0 ? this.globDepth : undefined })
  }

  #nearest(path: string): FileRule | undefined {
    for (let at = path; ; at = parentOf(at)) {
      const rule = this.#byPath.get(at)
      if (rule || at === '/') return rule
    }
  }
}

/** What two entries for one path mean, whichever comes first. */
function together(a: FileRule, b: FileRule): FileRule {
  const winner = RANK[a.access] - RANK[b.access] || compare(b.origin, a.origin)
  const [stronger, weaker] = winner >= 0 ? [a, b] : [b, a]
  return {
    ...stronger,
    links: union(stronger.links, weaker.links),
    // What one of two says is writable and the other protects is protected.
    protects: stronger.access === weaker.access ? union(stronger.protects, weaker.protects) : stronger.protects,
  }
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
