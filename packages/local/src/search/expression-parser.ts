import { invalid } from '../files/file-error.ts'
import { foldCase, negate, normalize, type Range, without, writeClass } from './character-class.ts'

const MAX_DEPTH = 100
const MAX_REPETITIONS = 1000
/**
 * How large an expression may be with its repetitions written out, in ranges of characters. The engines would take more,
 * but one needs seconds for each file then.
 */
const MAX_WEIGHT = 12_000
/** What a range costs that UTF-8 writes with more than one byte. */
const WIDE_RANGE_WEIGHT = 4

const LINE_FEED = 0x0a
const DIGITS: readonly Range[] = [[0x30, 0x39]]
const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const SPACE: readonly Range[] = [
  [0x09, 0x09],
  [0x0b, 0x0c],
  [0x20, 0x20],
]
/** `\d` and the like. None contains a line end: neither what it stands for nor what it does not. */
const SHORTHANDS: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  D: negate(DIGITS),
  w: WORD,
  W: negate(WORD),
  s: SPACE,
  S: negate(SPACE),
}
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: LINE_FEED, v: 0x0b, f: 0x0c, r: 0x0d }

/** What begins like a group and is none that both engines have. */
const FOREIGN_GROUPS: readonly (readonly [opening: RegExp, name: string])[] = [
  [/^\?<?[=!]/, 'look-around'],
  [/^\?>/, 'an atomic group'],
  [/^\?P?[<']/, 'a named group (write (?:…) instead)'],
  [/^\?/, 'an inline flag (for upper and lower case there is ignoreCase)'],
]

/** A part of an expression in both notations. */
interface Part {
  readonly javascript: string
  readonly rust: string
  readonly weight: number
  readonly assertion?: true
  /** There is a `^` in it. */
  readonly anchored?: true
}

const LINE_START: Part = { javascript: '(?<![^\\n])', rust: '^', weight: 1, assertion: true, anchored: true }
/** A carriage return belongs to the line end. Rust cannot look ahead, so in both it is part of what `$` matches. */
const LINE_END: Part = { javascript: '(?:\\r?(?![^\\n]))', rust: '(?:\\r?$)', weight: 1, assertion: true }
const WORD_EDGE: Part = { javascript: '\\b', rust: '(?-u:\\b)', weight: 1, assertion: true }

/**
 * Reads the expressions that JavaScript and Rust agree on, and writes them so that they do: characters as code points,
 * sets as ranges, case by listing both. What only one has, or both read differently, is refused by name.
 *
 * - Literals, `.`, `[a-z]`, `[^a-z]`, `(…)`, `(?:…)`, `|`, `* + ? {n} {n,} {n,m}`, also lazy, `^ $ \b`.
 * - `\d \w \s` and their opposites mean ASCII. `\t \v \f \r \xHH \uHHHH \u{H…}`, and `\` before punctuation.
 * - The carriage return before a line feed is part of the line end. `.`, `\s` and negated sets match neither; `\r` does.
 * - Bytes that are not UTF-8 are matched by nothing.
 * - `^` comes first, in the expression, a branch, or a group that comes first: anywhere else it is of no use, and not all
 *   versions of ripgrep get it right.
 *
 * Neither captures nor where a match ends are of interest, so laziness makes no difference and is not passed on.
 */
export class ExpressionParser {
  readonly #source: string
  readonly #ignoreCase: boolean
  #at = 0
  #depth = 0
  /** Whether nothing but `^` and the beginnings of groups came before, on the way to here. */
  #leading = true

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source
    this.#ignoreCase = ignoreCase
  }

  parse(): { javascript: string; rust: string } {
    const { javascript, rust } = this.#alternatives()
    if (this.#at < this.#source.length) throw this.#refuse('a ) without its (')
    return { javascript, rust }
  }

  #alternatives(): Part {
    const leading = this.#leading
    const parts = [this.#sequence()]
    while (this.#take('|')) {
      this.#leading = leading
      parts.push(this.#sequence())
    }
    this.#leading = false
    return this.#join(parts, '|')
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) parts.push(this.#repeated())
    // Written as a group, an empty branch is one in every version of both.
    return parts.length === 0 ? { javascript: '(?:)', rust: '(?:)', weight: 1 } : this.#join(parts, '')
  }

  #repeated(): Part {
    const part = this.#atom()
    const [text, least, range, most] = this.#match(/^(?:[*+?]|\{(\d+)(,(\d*))?\})/) ?? []
    if (text === undefined) return part
    if (part.anchored && text !== '?') throw this.#refuse(`a repeated ^ (by ${text})`)
    if (part.assertion) throw this.#refuse(`a repeated assertion (${text} has nothing to repeat)`)
    if (this.#take('+')) throw this.#refuse('a possessive quantifier')
    this.#take('?')
    if (this.#match(/^(?:[*+?]|\{\d)/))
      throw this.#refuse('a quantifier of a quantifier (put the first one into (?:…))')
    const times = most ? Number(most) : Number(least ?? 1)
    if (times > MAX_REPETITIONS || Number(least ?? 0) > MAX_REPETITIONS) {
      throw this.#refuse(`more than ${MAX_REPETITIONS} repetitions`)
    }
    if (most && Number(most) < Number(least)) throw this.#refuse(`a range from more to less, ${text}`)
    const quantifier = least === undefined ? text : `{${Number(least)}${range ? `,${most && Number(most)}` : ''}}`
    return this.#weighed({
      javascript: part.javascript + quantifier,
      rust: part.rust + quantifier,
      weight: part.weight * Math.max(1, times),
      ...(part.anchored && { anchored: true }),
    })
  }

  #atom(): Part {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!)
    this.#at += character.length
    if (character === '(') return this.#group()
    if (character === '^') {
      if (!this.#leading) throw this.#refuse('a ^ behind something else')
      return LINE_START
    }
    this.#leading = false
    if (character === '[') return this.#class(this.#set())
    if (character === '.') return this.#class(negate([]))
    if (character === '$') return LINE_END
    if ('*+?'.includes(character)) throw this.#refuse(`nothing to repeat before ${character}`)
    if (character === '{') throw this.#refuse('a { that begins no quantifier (for the character write \\{)')
    if (character !== '\\') return this.#class(this.#fold([[character.codePointAt(0)!, character.codePointAt(0)!]]))
    if (this.#take('b')) return WORD_EDGE
    return this.#class(this.#fold(this.#escape()))
  }

  #group(): Part {
    if (++this.#depth > MAX_DEPTH) throw this.#refuse(`more than ${MAX_DEPTH} groups inside each other`)
    if (!this.#match(/^\?:/)) {
      const rest = this.#source.slice(this.#at, this.#at + 4)
      const foreign = FOREIGN_GROUPS.find(([opening]) => opening.test(rest))
      if (foreign) throw this.#refuse(foreign[1])
    }
    const inner = this.#alternatives()
    if (!this.#take(')')) throw this.#refuse('a ( without its )')
    this.#depth--
    return { ...inner, javascript: `(?:${inner.javascript})`, rust: `(?:${inner.rust})` }
  }

  /** From behind its bracket. */
  #set(): readonly Range[] {
    const negated = this.#take('^')
    const ranges: Range[] = []
    if (this.#source[this.#at] === ']') throw this.#refuse('an empty set (for the character write \\])')
    while (!this.#take(']')) {
      const first = this.#member()
      const bounds = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']'
      if (!bounds) {
        ranges.push(...this.#fold(first))
        continue
      }
      this.#at++
      const last = this.#member()
      const [from, to] = [single(first), single(last)]
      if (from === undefined || to === undefined) throw this.#refuse('a range in a set between what is no character')
      if (from > to) throw this.#refuse('a range in a set that goes backwards')
      ranges.push(...(this.#ignoreCase ? foldCase([[from, to]]) : [[from, to] as const]))
    }
    return negated ? negate(ranges) : normalize(ranges)
  }

  #member(): readonly Range[] {
    if (this.#at >= this.#source.length) throw this.#refuse('a [ without its ]')
    if (this.#match(/^(?:&&|--|~~)/)) throw this.#refuse('a doubled & - or ~ in a set (write the second with a \\)')
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!)
    this.#at += character.length
    if (character === '[') throw this.#refuse('a [ in a set (for the character write \\[)')
    if (character === '\\') return this.#escape()
    return [[character.codePointAt(0)!, character.codePointAt(0)!]]
  }

  /** From behind its backslash. */
  #escape(): readonly Range[] {
    const number = this.#match(/^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/i)
    if (number) {
      const point = Number.parseInt(number[1] ?? number[2] ?? number[3]!, 16)
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) throw this.#refuse(`\\${number[0]}, no character`)
      return [[point, point]]
    }
    const character = this.#source[this.#at++]
    if (character === undefined) throw this.#refuse('a backslash at the end')
    if (SHORTHANDS[character]) return SHORTHANDS[character]
    const control = CONTROLS[character]
    if (control !== undefined) return [[control, control]]
    if (/[1-9k]/.test(character)) throw this.#refuse('a back-reference')
    if (/[pP]/.test(character)) throw this.#refuse(`\\${character}, whose tables differ (list the characters)`)
    if (!/[ -/:;=?@[-`{-~]/.test(character)) throw this.#refuse(`\\${character}`)
    return [[character.charCodeAt(0), character.charCodeAt(0)]]
  }

  #class(ranges: readonly Range[]): Part {
    const inLine = without(ranges, LINE_FEED)
    if (inLine.length === 0) throw this.#refuse('what no line contains: a line is searched without its end')
    const text = writeClass(inLine)
    const weight = inLine.reduce((sum, [, last]) => sum + (last < 0x80 ? 1 : WIDE_RANGE_WEIGHT), 0)
    return this.#weighed({ javascript: text, rust: text, weight })
  }

  /** Of characters. `\w` and the like have all that they should, and their opposites would get more. */
  #fold(ranges: readonly Range[]): readonly Range[] {
    return this.#ignoreCase && single(ranges) !== undefined ? foldCase(ranges) : ranges
  }

  #join(parts: readonly Part[], separator: string): Part {
    return this.#weighed({
      javascript: parts.map((part) => part.javascript).join(separator),
      rust: parts.map((part) => part.rust).join(separator),
      weight: parts.reduce((sum, part) => sum + part.weight, 0),
      ...(parts.some((part) => part.anchored) && { anchored: true }),
    })
  }

  #weighed(part: Part): Part {
    if (part.weight > MAX_WEIGHT) throw invalid('the pattern is too large: repeat less, or smaller parts')
    return part
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(expression: RegExp): RegExpMatchArray | undefined {
    const found = this.#source.slice(this.#at, this.#at + 64).match(expression)
    if (found) this.#at += found[0].length
    return found ?? undefined
  }

  #refuse(what: string): Error {
    return invalid(`the pattern cannot contain ${what}; see position ${this.#at}`)
  }
}

function single(ranges: readonly Range[]): number | undefined {
  const [only] = ranges
  return only && ranges.length === 1 && only[0] === only[1] ? only[0] : undefined
}
