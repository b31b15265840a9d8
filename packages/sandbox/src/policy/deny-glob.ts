import { alternatives } from './alternatives.ts'
import { matchesName, type NameToken, onlyName, parseName } from './name-pattern.ts'
import { PolicyError } from './policy-error.ts'
import { child } from './posix-path.ts'

/** Longer ones are nobody's handwriting. */
const MAX_PATTERN = 4096

/** One name of a pattern, or any number of names. */
export type GlobStep = '**' | readonly NameToken[]

/**
 * A pattern of paths that nobody may touch, and whatever is below them: `*` and `?` stay within a name, `**` is any
 * number of names, `[a-z]` a class, `{a,b}` either. Matching takes time in proportion to pattern times path, however
 * hostile both are.
 */
export class DenyGlob {
  readonly pattern: string
  /** The directory under which all matches are. */
  readonly directory: string
  /** What has to follow the directory. */
  readonly steps: readonly GlobStep[]

  /** `pattern` is absolute. */
  private constructor(pattern: string) {
    const steps = namesOf(pattern).map((name): GlobStep => (name === '**' ? name : parseName(name)))
    const literals: string[] = []
    for (const step of steps) {
      const name = step === '**' ? undefined : onlyName(step)
      if (name === undefined) break
      literals.push(name)
    }
    // A pattern without any wildcard names one path, which its parent holds.
    if (literals.length === steps.length) literals.pop()
    this.pattern = pattern
    this.directory = literals.reduce(child, '/')
    this.steps = steps.slice(literals.length)
  }

  /** One for each alternative of the pattern. */
  static parse(pattern: string): DenyGlob[] {
    if (pattern.length > MAX_PATTERN) {
      throw new PolicyError('unenforceable', `a deny pattern of ${pattern.length} characters: at most ${MAX_PATTERN}`)
    }
    if (pattern.includes('\0')) throw new PolicyError('unenforceable', 'a deny pattern holds a NUL character')
    return alternatives(pattern).map((each) => {
      if (namesOf(each).some((name) => /^\.{1,2}$/.test(name.replaceAll('\\', '')))) {
        throw new PolicyError('unenforceable', `the deny pattern ${quote(each)} goes up with \`..\``)
      }
      return new DenyGlob(each)
    })
  }

  /** The one path that is meant, if there are no wildcards. */
  get path(): string | undefined {
    const [step] = this.steps
    const name = this.steps.length !== 1 || step === undefined || step === '**' ? undefined : onlyName(step)
    return name === undefined ? undefined : child(this.directory, name)
  }

  /** The same pattern where its directory leads to. */
  at(directory: string): DenyGlob {
    const rest = namesOf(this.pattern).slice(-this.steps.length)
    return new DenyGlob([literal(directory), ...rest].join('/'))
  }

  /** Whether the path, or a directory that it is in, is meant. */
  matches(path: string): boolean {
    const prefix = this.directory === '/' ? '/' : `${this.directory}/`
    if (!path.startsWith(prefix)) return false
    const names = path.slice(prefix.length).split('/')
    // Goes back only to the last `**`: if what follows it fits anywhere, it fits where it fits first.
    let at = 0
    let star = -1
    let resume = 0
    for (let i = 0; i < names.length; ) {
      const step = this.steps[at]!
      if (step === '**') {
        // At the end of a pattern it stands for at least one name.
        if (at === this.steps.length - 1) return true
        star = at++
        resume = i
      } else if (matchesName(step, names[i]!)) {
        i++
        if (++at === this.steps.length) return true
      } else if (star >= 0) {
        at = star + 1
        i = ++resume
      } else return false
    }
    return false
  }
}

/** In a pattern, the names of a directory are just names. */
export function literal(path: string): string {
  return path.replace(/[*?[\\{}]/g, '\\$&')
}

function namesOf(pattern: string): string[] {
  return pattern.split('/').filter((name) => name !== '' && name !== '.')
}

function quote(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern)
}
