import { holdsUnseen, isUnseen } from './visible-text.ts'

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/

/** As somebody would type it. What cannot be seen is spelled out (`$'\x1b'`), so that it is still the same command. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  if (PLAIN.test(word)) return word
  if (!holdsUnseen(word)) return `'${word.replaceAll("'", "'\\''")}'`
  let quoted = ''
  for (const character of word) {
    if (character === '\\' || character === "'") quoted += `\\${character}`
    else if (character === '\n' || !isUnseen(character)) quoted += character
    else quoted += spelledOut(character)
  }
  return `$'${quoted}'`
}

function spelledOut(character: string): string {
  if (character === '\t') return '\\t'
  if (character === '\r') return '\\r'
  const code = character.codePointAt(0)!
  const hex = (digits: number) => code.toString(16).padStart(digits, '0')
  if (code < 0x80) return `\\x${hex(2)}`
  return code <= 0xffff ? `\\u${hex(4)}` : `\\U${hex(8)}`
}
