import { visibleRows } from './visible-rows.ts'

const LABEL_COLUMNS = 9
/** The longest spelling of a character has to fit beside a label. */
const MIN_COLUMNS = 24
const MAX_COLUMNS = 200
const MAX_FIELD_ROWS = 12
/** For the longest path that a system takes, in narrow columns. */
const MAX_PATH_ROWS = 512

/** A text in which what others have written can be told from what we say: it stands behind a bar or a label. */
export class RequestSheet {
  readonly #columns: number
  readonly #rows: string[] = []

  constructor(columns: number) {
    this.#columns = Math.min(Math.max(Math.trunc(columns), MIN_COLUMNS), MAX_COLUMNS)
  }

  /** Our own words. */
  title(text: string): void {
    this.#rows.push(text)
  }

  /** What will happen, as it is. Returns how many rows that took. */
  block(text: string, maxRows: number): number {
    const { rows, omitted } = visibleRows(text, { columns: this.#columns - 5, maxRows })
    for (const { text: row, continued } of rows) this.#rows.push(`  ${continued ? ':' : '|'} ${row}`)
    if (omitted > 0) this.#rows.push(`  ! ${omitted} more characters are NOT shown`)
    return rows.length
  }

  field(label: string, text: string): void {
    const columns = this.#columns - LABEL_COLUMNS - 3
    const { rows, omitted } = visibleRows(text, { columns, maxRows: MAX_FIELD_ROWS })
    rows.forEach(({ text: row }, index) => {
      this.#rows.push(`  ${(index === 0 ? label : '').padEnd(LABEL_COLUMNS)}${row}`)
    })
    if (omitted > 0) this.#rows.push(`  ${''.padEnd(LABEL_COLUMNS)}(${omitted} more characters)`)
  }

  /** What somebody else says, beside a label. Returns how many rows that took. */
  quote(label: string, text: string, maxRows = MAX_FIELD_ROWS): number {
    const { rows, omitted } = visibleRows(text, { columns: this.#columns - LABEL_COLUMNS - 5, maxRows })
    rows.forEach(({ text: row, continued }, index) => {
      this.#rows.push(`  ${(index === 0 ? label : '').padEnd(LABEL_COLUMNS)}${continued ? ':' : '|'} ${row}`)
    })
    if (omitted > 0) this.#rows.push(`  ${''.padEnd(LABEL_COLUMNS)}! ${omitted} more characters are NOT shown`)
    return rows.length
  }

  /** One path, whole. An end of a line in it must not look like the next path. */
  path(label: string, path: string, maxRows = MAX_PATH_ROWS): number {
    return this.quote(label, path.replaceAll('\n', '<U+000A>'), maxRows)
  }

  toString(): string {
    return this.#rows.map((row) => `${row.trimEnd()}\n`).join('')
  }
}
