import { PolicyError } from './policy-error.ts'

/** One character of a name in a pattern; `star` is any number of them. */
export type NameToken =
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'character'; readonly character: string; readonly folded: string }
  | NameClass

export interface NameClass {
  readonly kind: 'class'
  readonly negated: boolean
  /** Code points, from and to. */
  readonly ranges: readonly (readonly [number, number])[]
}

/** Reads `*`, `?`, `[a-z]`, `[!a-z]` and `\`; a bracket that is never closed is just a character. */
export function parseName(pattern: string): readonly NameToken[] {
  const tokens: NameToken[] = []
  let isUnclosed = false
  for (let i = 0; i < pattern.length; i++) {
    const end = pattern[i] === '[' && !isUnclosed ? classEnd(pattern, i) : undefined
    // Then no later one is closed either, and looking for its end again and again would take square time.
    if (pattern[i] === '[' && end === undefined) isUnclosed = true
    if (end !== undefined) {
      tokens.push(parseClass([...pattern.slice(i + 1, end)], pattern))
      i = end
    } else if (pattern[i] === '?') tokens.push({ kind: 'any' })
    else if (pattern[i] === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else {
      if (pattern[i] === '\\' && i + 1 < pattern.length) i++
      const character = String.fromCodePoint(pattern.codePointAt(i)!)
      tokens.push({ kind: 'character', character, folded: fold(character) })
      i += character.length - 1
    }
  }
  return tokens
}

/** Where the class that opens here ends. A bracket right after the opening one belongs to the class. */
export function classEnd(name: string, open: number): number | undefined {
  let first = open + 1
  if (name[first] === '!' || name[first] === '^') first++
  const end = name.indexOf(']', first + 1)
  return end < 0 ? undefined : end
}

/** The only name that matches, if the pattern has no wildcards. */
export function onlyName(tokens: readonly NameToken[]): string | undefined {
  let name = ''
  for (const token of tokens) {
    if (token.kind !== 'character') return undefined
    name += token.character
  }
  return name
}

/**
 * In whatever case: there are file systems that make no difference, and what is denied must not be had by another
 * spelling. Goes back only to the last star, so that `*a*a*a*` takes no exponential time.
 */
export function matchesName(tokens: readonly NameToken[], name: string): boolean {
  const text = [...name]
  let at = 0
  let star = -1
  let resume = 0
  let i = 0
  while (i < text.length) {
    const token = tokens[at]
    if (token?.kind === 'star') {
      star = at++
      resume = i
    } else if (token && matchesCharacter(token, text[i]!)) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++resume
    } else return false
  }
  while (tokens[at]?.kind === 'star') at++
  return at === tokens.length
}

function matchesCharacter(token: Exclude<NameToken, { kind: 'star' }>, character: string): boolean {
  switch (token.kind) {
    case 'any':
      return true
    case 'character':
      return token.character === character || token.folded === fold(character)
    case 'class':
      return matchesClass(token, character)
  }
}

/** The same for all spellings of a character: `ſ`, `S` and `s` are one. */
function fold(character: string): string {
  return character.toUpperCase().toLowerCase()
}

/** One of its spellings is in there; or none, if it is to be what is not. */
export function matchesClass({ negated, ranges }: NameClass, character: string): boolean {
  const isMember = [character, character.toLowerCase(), character.toUpperCase()].some((spelling) => {
    const point = spelling.codePointAt(0)!
    return ranges.some(([low, high]) => low <= point && point <= high)
  })
  return isMember !== negated
}

function parseClass(body: readonly string[], pattern: string): NameToken {
  const refuse = (what: string) =>
    new PolicyError('unenforceable', `the deny pattern ${JSON.stringify(pattern.slice(0, 100))} has ${what}`)
  // Read character by character, `[[:digit:]]` would deny something else than whoever wrote it believes.
  if (body.join('').startsWith('[:')) throw refuse('a class with a name: write its characters')
  const negated = body[0] === '!' || body[0] === '^'
  const ranges: [number, number][] = []
  for (let i = negated ? 1 : 0; i < body.length; i++) {
    const low = body[i]!.codePointAt(0)!
    const isRange = body[i + 1] === '-' && i + 2 < body.length
    const high = isRange ? body[i + 2]!.codePointAt(0)! : low
    if (high < low) throw refuse('a class that goes backwards')
    ranges.push([low, high])
    if (isRange) i += 2
  }
  return { kind: 'class', negated, ranges }
}
