export interface RuleProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

const MAX_SHOWN = 50

/** Rule files that cannot be used. None of the rules holds: fewer than somebody wrote could be far too few. */
export class RulesError extends Error {
  override readonly name = 'RulesError'
  readonly problems: readonly RuleProblem[]

  constructor(problems: readonly RuleProblem[]) {
    const shown = problems
      .slice(0, MAX_SHOWN)
      .map((each) => `${each.file}:${each.line}:${each.column}: ${each.message}`)
    const rest = problems.length - shown.length
    super([...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].join('\n'))
    this.problems = problems
  }
}
