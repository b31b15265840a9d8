import type { IgnoreRule } from './ignore-rules.ts'

/** Rules beyond so many in force at once are left out, and reported: each name is compared with all of them. */
const MAX_RULES = 20_000

/**
 * The ignore rules in force in one directory of the walk. The last that matches decides: those of `.ignore` come after
 * those of git, inner directories after outer ones.
 */
export class IgnoreScope {
  static readonly empty = new IgnoreScope([], [])
  readonly #git: readonly IgnoreRule[]
  readonly #own: readonly IgnoreRule[]

  private constructor(git: readonly IgnoreRule[], own: readonly IgnoreRule[]) {
    this.#git = git
    this.#own = own
  }

  ignores(name: string, isDirectory: boolean): boolean {
    const decided = lastMatch(this.#own, name, isDirectory) ?? lastMatch(this.#git, name, isDirectory)
    return decided !== undefined && !decided.negated
  }

  enter(name: string): IgnoreScope {
    return new IgnoreScope(enterAll(this.#git, name), enterAll(this.#own, name))
  }

  /** What a repository says does not count in a repository inside it. */
  withoutGit(): IgnoreScope {
    return new IgnoreScope([], this.#own)
  }

  withGit(rules: readonly IgnoreRule[]): IgnoreScope {
    this.#checkRoom(rules)
    return new IgnoreScope([...this.#git, ...rules], this.#own)
  }

  withOwn(rules: readonly IgnoreRule[]): IgnoreScope {
    this.#checkRoom(rules)
    return new IgnoreScope(this.#git, [...this.#own, ...rules])
  }

  #checkRoom(rules: readonly IgnoreRule[]): void {
    if (this.#git.length + this.#own.length + rules.length <= MAX_RULES) return
    throw new Error(`its rules do not count: with them, more than ${MAX_RULES} ignore rules would be in force`)
  }
}

function lastMatch(rules: readonly IgnoreRule[], name: string, isDirectory: boolean): IgnoreRule | undefined {
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index]!
    if ((isDirectory || !rule.directoriesOnly) && rule.pattern.matches(rule.at, name)) return rule
  }
  return undefined
}

function enterAll(rules: readonly IgnoreRule[], name: string): IgnoreRule[] {
  const entered: IgnoreRule[] = []
  for (const rule of rules) {
    const at = rule.pattern.enter(rule.at, name)
    if (at.length > 0) entered.push(at === rule.at ? rule : { ...rule, at })
  }
  return entered
}
