import { PatternError } from './pattern-error.ts'

/** Goes through a pattern from left to right. */
export class PatternReader {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length
  }

  isAt(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at)
  }

  /** Whether `text` was here. It is behind us then. */
  take(text: string): boolean {
    if (!this.isAt(text)) return false
    this.#at += text.length
    return true
  }

  /** `expression` is sticky. */
  takeMatch(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at
    const text = expression.exec(this.#pattern)?.[0]
    this.#at += text?.length ?? 0
    return text
  }

  /** The next code point. */
  next(): number {
    const point = this.#pattern.codePointAt(this.#at)
    if (point === undefined) throw this.error('it ends in the middle')
    this.#at += point > 0xffff ? 2 : 1
    return point
  }

  error(what: string): PatternError {
    return new PatternError(`The pattern is wrong at character ${this.#at + 1}: ${what}`)
  }
}
