import type { Amendment } from '../orchestrator/requirement.ts'
import { isBannedPrefix } from './judgement/banned-prefixes.ts'

/** A rule that is not saved. The message says why, and what to do instead. */
export class AmendmentError extends Error {
  override readonly name = 'AmendmentError'
}

const MAX_WORDS = 64
const MAX_CHARACTERS = 4096

/** What stands against saving it, or undefined. */
export function amendmentProblem({ prefix }: Amendment): string | undefined {
  if (prefix.length === 0 || prefix[0] === '') return 'a rule needs the name of a program'
  if (prefix.length > MAX_WORDS) return `a rule has ${MAX_WORDS} words at most; choose a shorter prefix`
  if (prefix.reduce((sum, word) => sum + word.length, 0) > MAX_CHARACTERS) {
    return `a rule has ${MAX_CHARACTERS} characters at most; choose a shorter prefix`
  }
  if (isBannedPrefix(prefix)) {
    return `a rule for \`${prefix.join(' ')}\` would allow everything that can be run with it; choose one that says what is run`
  }
  if (prefix.some((word) => word.includes('\0') || !word.isWellFormed())) return 'a word of the rule is not text'
  return undefined
}

/** The line that is saved, exactly. Throws for what must not be. */
export function amendmentText(amendment: Amendment): string {
  const problem = amendmentProblem(amendment)
  if (problem !== undefined) throw new AmendmentError(`the rule is not saved: ${problem}`)
  return ruleText(amendment)
}

/** The same to be shown, whatever it is. */
export function ruleText(amendment: Amendment): string {
  const sandbox = amendment.sandbox === 'bypass' ? ', sandbox="bypass"' : ''
  const pattern = amendment.prefix.map((word) => JSON.stringify(word)).join(', ')
  return `prefix_rule(pattern=[${pattern}], decision="allow"${sandbox})`
}
