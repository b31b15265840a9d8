/** A set of characters, as `[a-z]` writes it. */
export interface CharacterSet {
  readonly negated: boolean
  readonly ranges: readonly (readonly [first: number, last: number])[]
}

export const ANY_RUN = 'any run of characters'
export const ANY_ONE = 'any one character'

/** A number is a character that stands for itself. */
export type NameToken = number | typeof ANY_RUN | typeof ANY_ONE | CharacterSet

const DOT = 0x2e

/**
 * A pattern for one name in a path. Its cost is at most the product of both lengths, whatever the pattern: after a
 * mismatch only the last run of characters is tried longer, because where an earlier one ends makes no difference.
 */
export class NamePattern {
  readonly #tokens: readonly NameToken[]
  readonly #hidden: boolean
  readonly #whole: string | undefined
  readonly #suffix: string | undefined

  /** `hidden`: whether wildcards match the dot that a name begins with. */
  constructor(tokens: readonly NameToken[], hidden: boolean) {
    this.#tokens = tokens
    this.#hidden = hidden
    // Most patterns are a name or an extension, and those need no tokens.
    this.#whole = literal(tokens)
    this.#suffix = tokens[0] === ANY_RUN ? literal(tokens.slice(1)) : undefined
  }

  matches(name: string): boolean {
    if (this.#whole !== undefined) return name === this.#whole
    if (!this.#hidden && name.charCodeAt(0) === DOT && this.#tokens[0] !== DOT) return false
    if (this.#suffix !== undefined) return name.endsWith(this.#suffix)
    return this.#run(name)
  }

  #run(name: string): boolean {
    const tokens = this.#tokens
    let token = 0
    let at = 0
    let retryToken = -1
    let retryAt = 0
    while (at < name.length) {
      if (tokens[token] === ANY_RUN) {
        retryToken = ++token
        retryAt = at
        continue
      }
      const width = widthOf(tokens[token], name, at)
      if (width > 0) {
        at += width
        token++
      } else if (retryToken >= 0) {
        token = retryToken
        at = ++retryAt
      } else return false
    }
    while (tokens[token] === ANY_RUN) token++
    return token === tokens.length
  }
}

/** How much of the name the token takes; 0 if it does not match there. */
function widthOf(token: NameToken | undefined, name: string, at: number): number {
  if (token === undefined) return 0
  const point = name.codePointAt(at)!
  const width = point > 0xffff ? 2 : 1
  if (token === ANY_ONE) return width
  if (typeof token === 'number') return token === point ? width : 0
  const { negated, ranges } = token as CharacterSet
  return ranges.some(([first, last]) => point >= first && point <= last) === negated ? 0 : width
}

function literal(tokens: readonly NameToken[]): string | undefined {
  let text = ''
  for (const token of tokens) {
    if (typeof token !== 'number') return undefined
    text += String.fromCodePoint(token)
  }
  return text
}
