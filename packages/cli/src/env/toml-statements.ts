/** Strings of all four kinds, comments, line ends, what brackets and divides, and everything between. */
const TOKEN =
  /"""(?:[^\\]|\\[\s\S])*?""""{0,2}|'''[\s\S]*?''''{0,2}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[\n[\]{}]|[^"'#\n[\]{}]+/g

/** A header, or a key with its value: whole lines, with the comment behind and none of those above. */
export interface TomlStatement {
  /** In the text; `end` is after the line feed. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isHeader: boolean
}

/** Where the statements of a valid document stand, so that some can be changed and the rest stays as it is. */
export function tomlStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = []
  let lineStart = 0
  let start: number | undefined
  let brackets = 0
  let at = 0
  const finish = (end: number) => {
    if (start === undefined) return
    const own = text.slice(start, end)
    statements.push({ start, end, text: own, isHeader: own.trimStart().startsWith('[') })
    start = undefined
  }
  for (const [token] of text.matchAll(TOKEN)) {
    if (start === undefined && token.trim() !== '' && token !== '\uFEFF' && !token.startsWith('#')) start = lineStart
    if (token === '[' || token === '{') brackets++
    if (token === ']' || token === '}') brackets--
    at += token.length
    if (token !== '\n') continue
    if (brackets === 0) finish(at)
    lineStart = at
  }
  finish(at)
  return statements
}

/** Where the comments begin that stand directly above a place and belong to what comes there. */
export function commentStart(text: string, place: number): number {
  let start = place
  while (start > 0) {
    const lineStart = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
    if (!/^[ \t]*#/.test(text.slice(lineStart, start))) break
    start = lineStart
  }
  return start
}
