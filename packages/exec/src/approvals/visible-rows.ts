import { visibleCharacters } from './visible-text.ts'

export interface Row {
  readonly text: string
  /** It is the rest of a line that did not fit. */
  readonly continued: boolean
}

export interface RowLimits {
  readonly columns: number
  readonly maxRows: number
}

/**
 * Lines cut to a width, with nothing unseen in them. The terminal must not do the cutting: what it wraps begins at its
 * edge, where only our own words may stand. `omitted` counts the characters behind the last row.
 */
export function visibleRows(text: string, { columns, maxRows }: RowLimits): { rows: readonly Row[]; omitted: number } {
  const rows: Row[] = []
  let row = ''
  let width = 0
  let seen = 0
  let continued = false
  for (const { character, shown } of visibleCharacters(text)) {
    const isEnd = character === '\n'
    if (isEnd || width + widthOf(shown) > columns) {
      // The last row takes what fits: what it would hand on could not be counted.
      const rest = isEnd || rows.length === maxRows - 1 ? '' : lastWord(row, columns - widthOf(shown))
      rows.push({ text: row.slice(0, row.length - rest.length), continued })
      continued = !isEnd
      row = rest
      width = widthOf(rest)
      if (isEnd) seen++
      if (rows.length === maxRows) return { rows, omitted: text.length - seen }
      if (isEnd) continue
    }
    row += shown
    width += widthOf(shown)
    seen += character.length
  }
  if (row !== '' || rows.length === 0) rows.push({ text: row, continued })
  return { rows, omitted: 0 }
}

/** Where a line is cut: before its last word, unless that is most of it, or too wide for what has to follow it. */
function lastWord(row: string, columns: number): string {
  const start = row.lastIndexOf(' ') + 1
  const word = start > row.length / 2 ? row.slice(start) : ''
  return widthOf(word) > columns ? '' : word
}

/** At most so wide: how wide exactly only the terminal knows. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += character < '\u007f' ? 1 : /^\p{M}$/u.test(character) ? 0 : 2
  return width
}
