import { excerpt, Refusal } from './refusal.ts'
import { isQuote, stringLiteral } from './string-literal.ts'

export type TokenKind = 'name' | 'string' | '(' | ')' | '[' | ']' | ',' | '=' | 'newline' | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly offset: number
  /** Of a name or a string; what is written there otherwise. */
  readonly text: string
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
/** A carriage return only as part of a line end: alone, some editors show a new line there, and it would be none. */
const BLANK = /(?:[ \t]|\r(?=\n)|#[^\n\0]*)+/y

/** Reads tokens one by one, so that a file that is refused early costs nothing more. */
export class Lexer {
  readonly #text: string
  #at: number
  /** How many brackets are open: a line ends only outside of them. */
  #open = 0

  constructor(text: string, from = 0) {
    this.#text = text
    this.#at = from === 0 && text.startsWith('\uFEFF') ? 1 : from
  }

  next(): Token {
    for (;;) {
      this.#skip(BLANK)
      const offset = this.#at
      const character = this.#text[offset]
      if (character === undefined) return { kind: 'end', offset, text: 'the end of the file' }
      switch (character) {
        case '\n':
          this.#at++
          if (this.#open > 0) continue
          return { kind: 'newline', offset, text: 'the end of the line' }
        case ';':
          if (this.#open > 0) throw new Refusal(offset, 'unexpected `;` within brackets')
          this.#at++
          return { kind: 'newline', offset, text: '`;`' }
        case '(':
        case '[':
          this.#open++
          return this.#mark(character)
        case ')':
        case ']':
          this.#open = Math.max(0, this.#open - 1)
          return this.#mark(character)
        case ',':
        case '=':
          if (this.#text[offset + 1] === '=') throw new Refusal(offset, NO_EXPRESSIONS)
          return this.#mark(character)
      }
      return this.#word(character)
    }
  }

  #mark(kind: '(' | ')' | '[' | ']' | ',' | '='): Token {
    return { kind, offset: this.#at++, text: `\`${kind}\`` }
  }

  #word(character: string): Token {
    const offset = this.#at
    const name = this.#skip(NAME)
    const isString = isQuote(this.#text[this.#at])
    if (!isString && name !== '') return { kind: 'name', offset, text: name }
    if (!isString) throw new Refusal(offset, unexpected(this.#text, offset, character))
    if (name !== '' && name !== 'r' && name !== 'R') {
      throw new Refusal(offset, `strings cannot begin with \`${excerpt(name)}\`: write the text itself, or r"…"`)
    }
    const { value, end } = stringLiteral(this.#text, this.#at, name === '' ? 'escaped' : 'raw')
    this.#at = end
    return { kind: 'string', offset, text: value }
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }
}

const NO_EXPRESSIONS = 'expressions are not supported: a rules file has calls with strings and lists, nothing else'

function unexpected(text: string, offset: number, character: string): string {
  if (character === '\0') return 'the file holds a NUL character: it is not text'
  if (character === '\r') return 'a carriage return that ends no line: save the file with ordinary line ends'
  if (character === '\\') return 'lines are continued only within brackets, and need no `\\` there'
  if (/[0-9]/.test(character)) return 'numbers are not supported: write a string'
  if (character === '{' || character === '}') return 'dictionaries are not supported'
  if (/[-+*/%<>!|&^~@:.]/.test(character)) return NO_EXPRESSIONS
  const point = text.codePointAt(offset)!
  return `unexpected character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}
