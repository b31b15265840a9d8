export interface Position {
  readonly line: number
  readonly column: number
}

const MAX_COUNTED = 10_000

/** A rules file, and where in it something is. Both count from one, columns in characters. */
export class SourceText {
  readonly text: string
  /** Where each line begins. */
  readonly #lines: number[] = [0]

  constructor(text: string) {
    this.text = text
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) this.#lines.push(end + 1)
  }

  position(offset: number): Position {
    const line = this.lineOf(offset)
    // An editor that was told to write a byte order mark does not count it.
    const before = this.text.slice(this.#lines[line - 1]!, offset).replace(/^\uFEFF/, '')
    // To count characters in a line of a megabyte, once for each mistake in it, would take long.
    return { line, column: (before.length > MAX_COUNTED ? before.length : [...before].length) + 1 }
  }

  lineOf(offset: number): number {
    let low = 0
    let high = this.#lines.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#lines[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
