import { shortened } from '../output/shortened.ts'
import { PatchError } from './patch-error.ts'
import type { PatchLines } from './patch-lines.ts'

const QUOTED_CHARACTERS = 200

/** Goes through the lines of a patch, and knows where it is when something is wrong. */
export class LineReader {
  readonly #lines: readonly string[]
  readonly #firstLine: number
  #next = 0

  constructor({ lines, firstLine }: PatchLines) {
    this.#lines = lines
    this.#firstLine = firstLine
  }

  /** Undefined at the end. */
  get current(): string | undefined {
    return this.#lines[this.#next]
  }

  /** Its number in the text as it was given. */
  get line(): number {
    return this.#firstLine + this.#next
  }

  advance(): void {
    this.#next++
  }

  skipBlank(): void {
    while (this.current?.trim() === '') this.advance()
  }

  error(reason: string): PatchError {
    return new PatchError('INVALID', `invalid hunk at line ${this.line}, ${reason}`)
  }
}

/** In an error; no longer than one wants to read. */
export function quoteLine(line: string): string {
  return `'${shortened(line, QUOTED_CHARACTERS)}'`
}
