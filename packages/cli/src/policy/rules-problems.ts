import { type RuleProblem, visibleText } from '@waldo/exec'

/** As compilers say it, so that editors find the place. */
export function describeProblem({ file, line, column, message }: RuleProblem): string {
  return visibleText(`${file}:${line}:${column}: ${message}`)
}
