import type { Access, PermissionEntry, SpecialPath } from '@waldo/protocol'
import { DenyGlob } from './deny-glob.ts'
import { type FileRule, FileRules } from './file-rules.ts'
import type { HostFacts, ResolvedPath } from './host-facts.ts'
import { absolutePatterns, cwdOf, nativePath, type PolicyContext, subpathOf } from './policy-context.ts'
import { PolicyError } from './policy-error.ts'
import { child, isWithin, nameOf, normalize, parentOf } from './posix-path.ts'
import { PROTECTED_NAMES } from './protected-names.ts'

/** Paths and patterns, after everything is spelled out. More would cost more to enforce than the command. */
const MAX_PATHS = 1024
/** All patterns together: what each look at a path is compared with. */
const MAX_PATTERN_CHARACTERS = 256 * 1024

/** Collects the entries of one profile, and says what they mean together. */
export class RuleBinder {
  /** Entries that grant nothing. */
  readonly skipped: string[] = []
  readonly #context: PolicyContext
  readonly #facts: HostFacts
  readonly #rules: FileRule[] = []
  readonly #globs: DenyGlob[] = []
  readonly #links: { path: string; link: string }[] = []
  #rootPaths: ReadonlySet<string> | undefined
  #readsPlatform = false
  #paths = 0
  #patternCharacters = 0

  constructor(context: PolicyContext, facts: HostFacts) {
    this.#context = context
    this.#facts = facts
  }

  add({ path, access, missing_path_behavior }: PermissionEntry): void {
    const skip = missing_path_behavior === 'skip'
    if (path.type === 'glob_pattern') this.#addGlob(path.pattern)
    else if (path.type === 'special') this.#addSpecial(path.value, access, skip)
    else {
      const native = nativePath(path.path, (reason) => `invalid sandbox permission path URI: ${reason}`)
      this.#addPath(native, access, { origin: native, skip })
    }
  }

  /** Adds what follows from everything else, and refuses what could be undone from inside. */
  finish(globDepth: number | undefined): FileRules {
    const compile = () => new FileRules({ rules: this.#rules, globs: this.#globs, globDepth })
    if (this.#readsPlatform) this.#addPlatform(compile())
    const said = compile()
    // Nothing is protected from whoever may write everywhere.
    if (said.writesEverything) return said
    this.#protectRepositories(said)
    for (const { path, protects } of said.rules) for (const name of protects) this.#noteLinks(child(path, name))
    // Patterns are left out: what they hide can be hidden too late.
    const paths = new FileRules({ rules: this.#rules, globs: [], globDepth: undefined })
    for (const { path, link } of this.#links) {
      // Whoever may write to the directory that a link is in can make it lead elsewhere.
      const { access, rule } = paths.decide(parentOf(link))
      if (access !== 'write') continue
      throw new PolicyError(
        'unenforceable',
        `${path} is reached through the symbolic link ${link}, which a command could change, because of ` +
          `\`${rule}\`: name the path without the link, or put something else in its place`,
      )
    }
    return compile()
  }

  /** A `.git` that is a file points to what has to be protected instead. Never to be readable for that reason alone. */
  #protectRepositories(said: FileRules): void {
    for (const { path, protects } of said.rules) {
      if (!protects.includes('.git')) continue
      for (const directory of this.#facts.gitDirectories(child(path, '.git'))) {
        const resolved = this.#facts.resolve(directory)
        for (const link of resolved.links) this.#links.push({ path: directory, link })
        const isSaid = said.rules.some((rule) => rule.path === resolved.path)
        if (isSaid || said.decide(resolved.path).access !== 'write') continue
        this.#push(resolved, 'read', `repository of ${path}`, [])
      }
    }
  }

  #addSpecial(special: SpecialPath, access: Access, skip: boolean): void {
    switch (special.kind) {
      case 'root':
        this.#addPath('/', access, { origin: 'root', skip })
        break
      case 'slash_tmp':
        this.#addTemporary('/tmp', access, special.kind)
        break
      case 'tmpdir':
        for (const directory of this.#temporaries()) this.#addTemporary(directory, access, special.kind)
        break
      case 'minimal':
        if (access !== 'deny') this.#readsPlatform = true
        else for (const directory of this.#facts.platformDirectories) this.#addPlatformDirectory(directory, access)
        break
      case 'project_roots':
        cwdOf(this.#context)
        for (const root of this.#context.roots) {
          this.#addPath(subpathOf(root, special.subpath), access, { origin: rootOrigin(special.subpath), skip })
        }
        break
      case 'unknown':
        // What an unknown word would have granted can be left out. What it would have denied cannot.
        if (access === 'deny') {
          throw new PolicyError(
            'unenforceable',
            `the profile denies ${JSON.stringify(special.path.slice(0, 100))}, which this executor does not know`,
          )
        }
        this.#count()
        this.skipped.push(`unknown ${special.path.slice(0, 100)}`)
        break
      default:
        special satisfies never
    }
  }

  /** Not named one by one, so not to take back what an entry says of them: only that nothing can be read at all. */
  #addPlatform(said: FileRules): void {
    for (const directory of this.#facts.platformDirectories) {
      const { path } = this.#facts.resolve(directory)
      const nearest = said.rules.findLast((rule) => isWithin(rule.path, path))
      if (nearest?.access === 'write' || (nearest?.access === 'deny' && nearest.path !== '/')) continue
      this.#addPlatformDirectory(directory, 'read')
    }
  }

  #addPlatformDirectory(directory: string, access: Access): void {
    this.#addPath(directory, access, { origin: 'minimal', skip: true })
  }

  #noteLinks(path: string): void {
    for (const link of this.#facts.resolve(path).links) this.#links.push({ path, link })
  }

  #addPath(path: string, access: Access, { origin, skip }: { origin: string; skip: boolean }): void {
    this.#count()
    const resolved = this.#facts.resolve(path)
    // A directory that does not exist cannot be written to; making it would be a write to the one above.
    if (!resolved.exists && (skip || access === 'write')) {
      this.skipped.push(`${access} ${path}`)
      return
    }
    for (const link of resolved.links) this.#links.push({ path, link })
    this.#push(resolved, access, origin, this.#protectedNames(resolved))
  }

  /** Everybody's: names there mean nothing unless somebody has put something under them. */
  #addTemporary(path: string, access: Access, origin: string): void {
    this.#count()
    const resolved = this.#facts.resolve(path)
    if (!resolved.isDirectory) {
      this.skipped.push(`${access} ${path}`)
      return
    }
    for (const link of resolved.links) this.#links.push({ path, link })
    // A link of a stranger must not keep everybody else from working.
    const there = (name: string) => {
      const { exists, links } = this.#facts.resolve(child(resolved.path, name))
      return exists && links.length === 0
    }
    this.#push(resolved, access, origin, this.#isRoot(resolved) ? PROTECTED_NAMES : PROTECTED_NAMES.filter(there))
  }

  #push(resolved: ResolvedPath, access: Access, origin: string, protects: readonly string[]): void {
    this.#rules.push({ ...resolved, access, origin, protects: access === 'write' ? protects : [] })
  }

  #protectedNames(resolved: ResolvedPath): readonly string[] {
    // Nobody works in the root. Whoever names such a directory itself wants it written to, unless it is where they work.
    if (!resolved.isDirectory || resolved.path === '/') return []
    return this.#isRoot(resolved) || !PROTECTED_NAMES.includes(nameOf(resolved.path)) ? PROTECTED_NAMES : []
  }

  #isRoot({ path }: ResolvedPath): boolean {
    this.#rootPaths ??= new Set(this.#context.roots.map((root) => this.#facts.resolve(root).path))
    return this.#rootPaths.has(path)
  }

  #addGlob(pattern: string): void {
    for (const absolute of absolutePatterns(pattern, this.#context)) {
      for (const glob of DenyGlob.parse(absolute)) {
        this.#count(absolute.length)
        const { path, links } = this.#facts.resolve(glob.directory)
        if (path === '/') {
          throw new PolicyError(
            'unenforceable',
            `the deny pattern ${JSON.stringify(pattern.slice(0, 100))} would have to be looked for on the whole ` +
              'machine: begin it with a directory',
          )
        }
        for (const link of links) this.#links.push({ path: glob.directory, link })
        this.#globs.push(path === glob.directory ? glob : glob.at(path))
        // If this very path is a link, what it leads to is meant.
        if (glob.path !== undefined) this.#addPath(glob.path, 'deny', { origin: pattern.slice(0, 100), skip: true })
      }
    }
  }

  #temporaries(): readonly string[] {
    if (this.#context.temporaries) return this.#context.temporaries
    const own = this.#facts.temporaryDirectory
    const path = own === undefined ? undefined : normalize(own)
    return path === undefined ? [] : [path]
  }

  /** An entry can stand for as many paths as there are roots or alternatives. */
  #count(patternCharacters = 0): void {
    this.#patternCharacters += patternCharacters
    if (++this.#paths > MAX_PATHS || this.#patternCharacters > MAX_PATTERN_CHARACTERS) {
      throw new PolicyError('unenforceable', `a profile of more than ${MAX_PATHS} paths and patterns`)
    }
  }
}

function rootOrigin(subpath: string | undefined): string {
  return subpath === undefined ? 'project_roots' : `project_roots/${subpath.slice(0, 100)}`
}
