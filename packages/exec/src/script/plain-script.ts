import { readRedirect, redirected } from './literal-redirect.ts'
import { readLiteralWord } from './literal-word.ts'
import type { PlainToken } from './plain-token.ts'
import type { Refusal } from './refusal.ts'
import type { Assignment, Redirect, Segment } from './segment.ts'
import { whyMoreThanItsWords } from './shell-commands.ts'
import type { ShellKind } from './shell-wrapper.ts'

/** More commands than anybody types in one line. */
const MAX_SEGMENTS = 256
const ASSIGNMENT = /[A-Za-z_][A-Za-z0-9_]*=/y
/** Names with a meaning in some shell even there: options, job numbers. And assignments that are none. */
const COMMAND_NAME = /^[A-Za-z0-9_./:@][^=]*$/

export interface PlainScript {
  readonly segments: readonly Segment[]
  readonly tokens: readonly PlainToken[]
}

/**
 * Reads a script that is nothing but commands of literal words, joined by `&&`, `||`, `|`, `;` and newlines. Knows no
 * grammar of shells, and refuses whatever it does not know: the first reading of two that have to agree.
 */
export function readPlainScript(script: string, shell: ShellKind): PlainScript | Refusal {
  const strange = script.search(/(?![\t\n])[\p{Cc}\p{Cs}]/u)
  if (strange >= 0) return { what: 'a control character or half a character', offset: strange }
  const reader = new PlainReader(script, shell)
  return reader.read() ?? reader
}

class PlainReader implements PlainScript {
  readonly segments: Segment[] = []
  readonly tokens: PlainToken[] = []
  readonly #script: string
  readonly #shell: ShellKind
  #at = 0
  #start = 0
  #words: string[] = []
  #assignments: Assignment[] = []
  #redirects: Redirect[] = []
  /** An operator that another command has to follow. */
  #joiner: Refusal | undefined
  /** The descriptors that are not what they were, by a pipe or a redirect. */
  #changed = new Set<number>()

  constructor(script: string, shell: ShellKind) {
    this.#script = script
    this.#shell = shell
  }

  read(): Refusal | undefined {
    for (; this.#at < this.#script.length; ) {
      const character = this.#script[this.#at]!
      const refusal =
        character === ' ' || character === '\t'
          ? void this.#at++
          : /[\n;|&]/.test(character) && !this.#script.startsWith('&>', this.#at)
            ? this.#operator(character)
            : this.#part()
      if (refusal) return refusal
    }
    const refusal = this.#endSegment() ?? this.#joiner
    return refusal ?? (this.segments.length === 0 ? { what: 'an empty script', offset: 0 } : undefined)
  }

  #operator(character: string): Refusal | undefined {
    const start = this.#at
    const isEmpty = this.#isEmpty
    const isPipe = character === '|' && !this.#script.startsWith('||', start)
    const refusal = (isPipe ? this.#change(1, start) : undefined) ?? this.#endSegment()
    if (refusal) return refusal
    if (isPipe) this.#changed.add(0)
    const double = this.#script.startsWith(character, start + 1)
    if (character === '\n') {
      // An empty line, or the rest of one that ended with an operator.
      this.#at++
      return undefined
    }
    const text = double ? character + character : character
    if (isEmpty) return { what: `\`${text}\` without a command before it`, offset: start }
    if (text === '&') return { what: 'a command in the background', offset: start }
    if (text === ';;') return { what: '`;;`', offset: start }
    this.#at += text.length
    if (text === '|' && this.#script[this.#at] === '&') return { what: '`|&`', offset: start }
    if (text !== ';') this.#joiner = { what: `\`${text}\` without a command after it`, offset: start }
    this.tokens.push({ kind: 'operator', start, end: this.#at })
    return undefined
  }

  /** A word, an assignment or a redirect. */
  #part(): Refusal | undefined {
    const start = this.#at
    if (this.#isEmpty) this.#start = start
    this.#joiner = undefined
    if (/[0-9]?(?:[<>]|&>)/y.test(this.#script.slice(start, start + 3))) {
      const redirect = readRedirect(this.#script, start, this.#shell)
      if ('what' in redirect) return redirect
      for (const number of redirected(redirect.redirect)) {
        const twice = this.#change(number, start)
        if (twice) return twice
      }
      this.#redirects.push(redirect.redirect)
      this.#push('redirect', redirect.end)
      return undefined
    }
    ASSIGNMENT.lastIndex = start
    const [name] = this.#words.length === 0 ? (ASSIGNMENT.exec(this.#script) ?? []) : []
    if (name !== undefined) return this.#assignment(name.slice(0, -1))
    const word = readLiteralWord(this.#script, start)
    if ('what' in word) return word
    if (word.value === '') return { what: 'an empty word', offset: start }
    if (/^[0-9]+$/.test(word.value) && word.isBare && /[<>]/.test(this.#script[word.end] ?? '')) {
      return { what: 'a descriptor of several digits', offset: start }
    }
    const isName = this.#words.length === 0
    if (isName && !word.isBare) return { what: 'a command whose name is quoted', offset: start }
    if (isName && !COMMAND_NAME.test(word.value)) return { what: 'an unusual name of a command', offset: start }
    this.#words.push(word.value)
    this.#push(isName ? 'name' : 'word', word.end)
    return undefined
  }

  #assignment(name: string): Refusal | undefined {
    const start = this.#at
    const from = start + name.length + 1
    const word = readLiteralWord(this.#script, from)
    if ('what' in word) return word
    // zsh looks for a command there, as at the start of a word.
    if (/:=/.test(this.#script.slice(from, word.end))) return { what: 'an assignment with `:=`', offset: start }
    // Some variables are evaluated when they are set (numbers of zsh), some later (prompts).
    if (/[$`]/.test(word.value)) return { what: 'an assignment of something that may be evaluated', offset: start }
    this.#assignments.push({ name, value: word.value })
    this.#push('assignment', word.end)
    return undefined
  }

  /** What is redirected twice goes to both in zsh, through a process of its own. */
  #change(number: number, offset: number): Refusal | undefined {
    if (this.#shell === 'zsh' && this.#changed.has(number)) {
      return { what: `descriptor ${number} redirected twice, which zsh does at once`, offset }
    }
    this.#changed.add(number)
    return undefined
  }

  #push(kind: PlainToken['kind'], end: number): void {
    this.tokens.push({ kind, start: this.#at, end })
    this.#at = end
  }

  get #isEmpty(): boolean {
    return this.#words.length + this.#assignments.length + this.#redirects.length === 0
  }

  #endSegment(): Refusal | undefined {
    if (this.#isEmpty) return undefined
    const segment = { words: this.#words, assignments: this.#assignments, redirects: this.#redirects }
    const offset = this.#start
    if (segment.words.length === 0) {
      return { what: `${segment.assignments.length > 0 ? 'an assignment' : 'a redirect'} without a command`, offset }
    }
    if (this.segments.length === MAX_SEGMENTS) return { what: `more than ${MAX_SEGMENTS} commands`, offset }
    const more = whyMoreThanItsWords(segment)
    if (more !== undefined) return { what: more, offset }
    this.segments.push(segment)
    this.#words = []
    this.#assignments = []
    this.#redirects = []
    this.#changed = new Set()
    return undefined
  }
}
