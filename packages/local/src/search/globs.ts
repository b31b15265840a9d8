import { invalid } from '../files/file-error.ts'
import { expandBraces } from './braces.ts'
import { parseGlob } from './glob-syntax.ts'
import { PathPattern, type Positions } from './path-pattern.ts'

interface Glob {
  readonly pattern: PathPattern
  readonly negated: boolean
  readonly directoriesOnly: boolean
  readonly at: Positions
}

/** The globs of a search as they stand in one directory of the walk. */
export class Globs {
  readonly #globs: readonly Glob[]
  /** Whether there are globs that select; without one, everything is selected that none excludes. */
  readonly #selective: boolean
  readonly #hidden: boolean

  private constructor(globs: readonly Glob[], selective: boolean, hidden: boolean) {
    this.#globs = globs
    this.#selective = selective
    this.#hidden = hidden
  }

  static parse(sources: readonly string[], hidden: boolean): Globs {
    const globs = sources.flatMap((source) => parse(source, hidden))
    const selective = globs.some((glob) => !glob.negated)
    return new Globs(globs, selective, hidden)
  }

  selects(name: string, isDirectory: boolean): boolean {
    const decided = this.#lastMatch(name, isDirectory)
    if (decided) return !decided.negated
    return !this.#selective && this.#visible(name)
  }

  /** How they stand in a directory below; undefined if nothing in there can be selected. */
  enter(name: string): Globs | undefined {
    if (this.#lastMatch(name, true)?.negated) return undefined
    if (!this.#selective && !this.#visible(name)) return undefined
    const globs: Glob[] = []
    for (const glob of this.#globs) {
      const at = glob.pattern.enter(glob.at, name)
      if (at.length > 0) globs.push(at === glob.at ? glob : { ...glob, at })
    }
    if (this.#selective && globs.every((glob) => glob.negated)) return undefined
    return new Globs(globs, this.#selective, this.#hidden)
  }

  #lastMatch(name: string, isDirectory: boolean): Glob | undefined {
    for (let index = this.#globs.length - 1; index >= 0; index--) {
      const glob = this.#globs[index]!
      if ((isDirectory || !glob.directoriesOnly) && glob.pattern.matches(glob.at, name)) return glob
    }
    return undefined
  }

  #visible(name: string): boolean {
    return this.#hidden || !name.startsWith('.')
  }
}

function parse(source: string, hidden: boolean): Glob[] {
  const negated = source.startsWith('!')
  // An exclusion is thorough: its wildcards match hidden names too.
  const wildcardsMatchHidden = hidden || negated
  return expandBraces(negated ? source.slice(1) : source).map((glob) => {
    const directoriesOnly = glob.endsWith('/')
    const path = directoriesOnly ? glob.slice(0, -1) : glob
    const fromRoot = /^\.?\//.exec(path)?.[0] ?? ''
    const segments = parseGlob(path.slice(fromRoot.length))
    if (!segments) throw invalid(`a glob has a [ without its ], or ends in a backslash: ${source}`)
    if (segments.some((segment) => segment.length === 0)) throw invalid(`a glob has an empty name in it: ${source}`)
    const pattern =
      segments.length === 1 && fromRoot === ''
        ? PathPattern.anywhere(segments[0]!, wildcardsMatchHidden)
        : new PathPattern(segments, wildcardsMatchHidden)
    return { pattern, negated, directoriesOnly, at: pattern.start }
  })
}
