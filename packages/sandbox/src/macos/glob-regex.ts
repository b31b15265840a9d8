import type { GlobStep } from '../policy/deny-glob.ts'
import { matchesClass, type NameClass, type NameToken } from '../policy/name-pattern.ts'
import { PolicyError } from '../policy/policy-error.ts'

/**
 * Regular expressions as Seatbelt knows them, in terms that every dialect agrees on. Whether they see bytes or
 * characters is not documented, so what is not ASCII is matched in runs: that denies more, never less.
 */
const ANY_NAMES = '(/[^/]+)*'
const NOT_ASCII = '[^ -~]+'
const [FIRST_ASCII, LAST_ASCII] = [0x20, 0x7e]

/** What a path begins with that is this deep: the directory itself is compared as a parameter. */
export function anyDirectory(depth: number): string {
  return `^${'/[^/]+'.repeat(depth)}`
}

/** Expressions of which one matches if the steps lead from the directory to a path, or to something above it. */
export function stepsRegexes(directory: string, steps: readonly GlobStep[]): string[] {
  // At the end of a pattern `**` is everything that is below.
  if (steps.at(-1) === '**') return [`${stepsRegex(directory, steps.slice(0, -1))}/`]
  return orBelow(stepsRegex(directory, steps))
}

/** Matches the directories on the way, into which something has to be put to be matched. */
export function directoriesRegexes(directory: string, steps: readonly GlobStep[]): string[] {
  return steps.slice(1).map((_, index) => `${stepsRegex(directory, steps.slice(0, index + 1))}$`)
}

export function nameRegexes(directory: string, name: string): string[] {
  return orBelow(`${directory}/${[...name].map(inAnyCase).join('')}`)
}

/** Not `(/.*)?$`: a dot may stop at the end of a line, which a name can hold. */
function orBelow(regex: string): string[] {
  return [`${regex}$`, `${regex}/`]
}

function stepsRegex(directory: string, steps: readonly GlobStep[]): string {
  return directory + steps.map((step) => (step === '**' ? ANY_NAMES : `/${step.map(tokenRegex).join('')}`)).join('')
}

function tokenRegex(token: NameToken): string {
  switch (token.kind) {
    case 'star':
      return '[^/]*'
    case 'any':
      return `([ -.0-~]|${NOT_ASCII})`
    case 'character':
      return inAnyCase(token.character)
    case 'class': {
      const alternatives = characters(token)
      if (token.negated) alternatives.push(NOT_ASCII)
      else if (token.ranges.some(([, high]) => high > LAST_ASCII)) throw notAscii()
      return `(${alternatives.join('|')})`
    }
  }
}

/** The characters of a class, one by one: inside brackets every dialect has its own rules. */
function characters(token: NameClass): string[] {
  const found: string[] = []
  for (let point = FIRST_ASCII; point <= LAST_ASCII; point++) {
    const character = String.fromCharCode(point)
    if (matchesClass(token, character) && character !== '/') found.push(exactly(character))
  }
  return found
}

/** Because it does not matter on most Macs. */
function inAnyCase(character: string): string {
  if (!/^[A-Za-z]$/.test(character)) return exactly(character)
  return `[${character.toLowerCase()}${character.toUpperCase()}]`
}

function exactly(character: string): string {
  const point = character.codePointAt(0)!
  if (point < FIRST_ASCII || point > LAST_ASCII) throw notAscii()
  // A quote would end the expression. Its neighbours are denied with it.
  if (character === '"') return '[!-#]'
  return /[A-Za-z0-9 _-]/.test(character) ? character : `\\${character}`
}

function notAscii(): PolicyError {
  return new PolicyError(
    'unenforceable',
    'on macOS a deny pattern can only have ASCII characters in the names from its first wildcard on',
  )
}
