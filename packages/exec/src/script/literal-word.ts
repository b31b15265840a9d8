import type { Refusal } from './refusal.ts'

/** A word whose value every shell agrees on. */
export interface LiteralWord {
  readonly value: string
  readonly end: number
  /** Nothing of it is quoted. */
  readonly isBare: boolean
}

/**
 * What means itself without quotes in bash, zsh and every sh. Not here, besides what is special: `=` at the start (a
 * path in zsh), `^` (a pipe in old shells, a glob in zsh), `!` (history), and everything beyond ASCII: some shells
 * look at bytes, and in some locales some of those are blanks.
 */
const BARE = /[A-Za-z0-9_%+,\-./:=@]/
const ENDS_WORD = /[ \t\n;&|<>]/

const NAMES: Readonly<Record<string, string>> = {
  $: 'an expansion',
  '`': 'a command substitution',
  '\\': 'a backslash',
  '~': 'a tilde',
  '*': 'a glob',
  '?': 'a glob',
  '[': 'a glob or test',
  ']': 'a glob or test',
  '{': 'a brace',
  '}': 'a brace',
  '(': 'a parenthesis',
  ')': 'a parenthesis',
  '#': 'a comment or glob',
  '!': 'a negation or history expansion',
  '^': 'a caret',
  '=': 'a word that begins with `=`',
}

/** Reads the word at `start`, as strictly as possible: what any shell could take for something else is refused. */
export function readLiteralWord(script: string, start: number): LiteralWord | Refusal {
  let value = ''
  let isBare = true
  let at = start
  for (;;) {
    const character = script[at]
    if (character === undefined || ENDS_WORD.test(character)) break
    if (character === "'" || character === '"') {
      const close = script.indexOf(character, at + 1)
      if (close < 0) return { what: 'a quote that is never closed', offset: at }
      const text = script.slice(at + 1, close)
      const special = character === '"' ? text.search(/[$`]|\\[\\\n]|\\$/) : -1
      if (special >= 0) return { what: nameOf(text[special]!), offset: at + 1 + special }
      value += text
      isBare = false
      at = close + 1
    } else if (BARE.test(character) && !(character === '=' && at === start)) {
      value += character
      at++
    } else return { what: nameOf(character), offset: at }
  }
  return { value, end: at, isBare }
}

function nameOf(character: string): string {
  return NAMES[character] ?? (character > '~' ? 'a character beyond ASCII outside of quotes' : 'a control character')
}
