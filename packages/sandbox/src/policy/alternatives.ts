import { classEnd } from './name-pattern.ts'
import { PolicyError } from './policy-error.ts'

const MAX_ALTERNATIVES = 64

interface Choice {
  readonly before: string
  readonly texts: readonly string[]
  readonly after: string
}

/** Spells out `{a,b}`. A brace that is never closed, holds no choice or comes after a backslash is just a character. */
export function alternatives(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const choice = innermostChoice(next)
    if (done.length + open.length + (choice?.texts.length ?? 1) > MAX_ALTERNATIVES) {
      throw new PolicyError(
        'unenforceable',
        `the deny pattern ${JSON.stringify(pattern.slice(0, 100))} has more than ${MAX_ALTERNATIVES} alternatives`,
      )
    }
    if (!choice) done.push(next)
    else for (const text of choice.texts) open.push(`${choice.before}${text}${choice.after}`)
  }
  return done
}

function innermostChoice(pattern: string): Choice | undefined {
  let brace = -1
  let commas: number[] = []
  // In the name that we are in: then no later one is closed either.
  let isUnclosed = false
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]
    if (character === '\\') i++
    else if (character === '/') isUnclosed = false
    else if (character === '[' && !isUnclosed) {
      const end = classEnd(pattern, i) ?? pattern.length
      if (end === pattern.length || pattern.slice(i, end).includes('/')) isUnclosed = true
      else i = end
    } else if (character === '{') {
      brace = i
      commas = []
    } else if (character === ',' && brace >= 0) commas.push(i)
    else if (character === '}' && brace >= 0) {
      const ends = [brace, ...commas, i]
      const texts = ends.slice(1).map((end, index) => pattern.slice(ends[index]! + 1, end))
      if (commas.length > 0) return { before: pattern.slice(0, brace), texts, after: pattern.slice(i + 1) }
      brace = -1
    }
  }
  return undefined
}
