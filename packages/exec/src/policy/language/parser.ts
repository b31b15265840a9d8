import { Lexer, type Token, type TokenKind } from './lexer.ts'
import { excerpt, Refusal } from './refusal.ts'

export type Literal =
  | { readonly kind: 'string'; readonly value: string; readonly offset: number }
  | { readonly kind: 'list'; readonly items: readonly Literal[]; readonly offset: number }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly offset: number }
  | { readonly kind: 'none'; readonly offset: number }

export interface Argument {
  /** Undefined for one that is told by its place. */
  readonly name: string | undefined
  readonly value: Literal
  readonly offset: number
}

/** All that a rules file consists of. */
export interface Call {
  readonly name: string
  readonly arguments: readonly Argument[]
  readonly offset: number
}

/** A pattern has two; beyond this somebody tries how deep we can go. */
const MAX_DEPTH = 8
/** Whoever has that many mistakes in a file has another kind of file. */
const MAX_REFUSALS = 50
const NEXT_CALL = /\n(?=[A-Za-z_][A-Za-z0-9_]*[ \t]*\()/g

/** Reads all calls, and after a mistake goes on at the next line that begins with one: all mistakes are told at once. */
export function parseCalls(text: string): { readonly calls: readonly Call[]; readonly refusals: readonly Refusal[] } {
  const calls: Call[] = []
  const refusals: Refusal[] = []
  let parser = new Parser(text, 0)
  while (refusals.length < MAX_REFUSALS) {
    try {
      const call = parser.call()
      if (!call) break
      calls.push(call)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refusals.push(error)
      NEXT_CALL.lastIndex = error.offset
      if (!NEXT_CALL.test(text)) break
      parser = new Parser(text, NEXT_CALL.lastIndex)
    }
  }
  return { calls, refusals }
}

class Parser {
  readonly #lexer: Lexer
  #token: Token | undefined

  constructor(text: string, from: number) {
    this.#lexer = new Lexer(text, from)
  }

  /** Undefined at the end of the file. */
  call(): Call | undefined {
    let token = this.#take()
    while (token.kind === 'newline') token = this.#take()
    if (token.kind === 'end') return undefined
    if (token.kind !== 'name') throw new Refusal(token.offset, `expected a call, found ${shown(token)}`)
    const open = this.#take()
    if (open.kind !== '(') throw new Refusal(token.offset, noCall(token.text, open))
    const args: Argument[] = []
    while (!this.#takeIf(')')) {
      args.push(this.#argument())
      if (this.#takeIf(')')) break
      this.#expect(',', '`,` or `)`')
    }
    const end = this.#take()
    if (end.kind !== 'newline' && end.kind !== 'end') {
      throw new Refusal(end.offset, `expected the end of the line after the call, found ${shown(end)}`)
    }
    return { name: token.text, arguments: args, offset: token.offset }
  }

  #argument(): Argument {
    const token = this.#take()
    const isName = token.kind === 'name' && !['True', 'False', 'None'].includes(token.text)
    if (!isName) return { name: undefined, value: this.#literal(token, 0), offset: token.offset }
    if (!this.#takeIf('=')) {
      throw new Refusal(token.offset, `variables and calls are not supported within a call: \`${excerpt(token.text)}\``)
    }
    return { name: token.text, value: this.#literal(this.#take(), 0), offset: token.offset }
  }

  #literal(token: Token, depth: number): Literal {
    const { offset } = token
    if (token.kind === 'string') return { kind: 'string', value: token.text, offset }
    if (token.kind === 'name') {
      if (token.text === 'True' || token.text === 'False')
        return { kind: 'boolean', value: token.text === 'True', offset }
      if (token.text === 'None') return { kind: 'none', offset }
    }
    if (token.kind !== '[')
      throw new Refusal(offset, `expected a string, a list, True, False or None, found ${shown(token)}`)
    if (depth === MAX_DEPTH) throw new Refusal(offset, `lists within lists, more than ${MAX_DEPTH} deep`)
    const items: Literal[] = []
    while (!this.#takeIf(']')) {
      items.push(this.#literal(this.#take(), depth + 1))
      if (this.#takeIf(']')) break
      this.#expect(',', '`,` or `]`')
    }
    return { kind: 'list', items, offset }
  }

  #expect(kind: TokenKind, what: string): void {
    const token = this.#take()
    if (token.kind !== kind) throw new Refusal(token.offset, `expected ${what}, found ${shown(token)}`)
  }

  #takeIf(kind: TokenKind): boolean {
    this.#token ??= this.#lexer.next()
    if (this.#token.kind !== kind) return false
    this.#token = undefined
    return true
  }

  #take(): Token {
    const token = this.#token ?? this.#lexer.next()
    this.#token = undefined
    return token
  }
}

function shown(token: Token): string {
  if (token.kind === 'string') return 'a string'
  return token.kind === 'name' ? `\`${excerpt(token.text)}\`` : token.text
}

function noCall(name: string, next: Token): string {
  const only = 'a rules file has calls such as prefix_rule(…), nothing else'
  if (next.kind === '=') return `assignments are not supported: ${only}`
  return `\`${excerpt(name)}\` is no call: ${only}`
}
