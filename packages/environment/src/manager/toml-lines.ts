import { parse } from 'smol-toml'

/** Strings of all four kinds, comments, line ends, what brackets and divides, and everything between. */
const TOKEN =
  /"""(?:[^\\]|\\[\s\S])*?""""{0,2}|'''[\s\S]*?''''{0,2}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[\n[\]{}=]|[^"'#\n[\]{}=]+/g

/** Names deeper than this are known by the first so many: nobody asks for more, and a file could hold a hundred thousand. */
const MAX_DEPTH = 8

type TomlPath = readonly (string | number)[]

/**
 * Where in a valid document its tables and keys stand, which the parser does not tell. Tables of an array are numbered
 * from 0. What is inside a value stands where the value's key does.
 */
export class TomlLines {
  readonly #lines = new Map<string, number>()
  readonly #arrayTables = new Map<string, number>()

  constructor(text: string) {
    let line = 1
    let state: 'start' | 'header' | 'key' | 'value' = 'start'
    let table: TomlPath = []
    let brackets = 0
    let key = ''
    for (const [token] of text.replace(/^\uFEFF/, '').matchAll(TOKEN)) {
      const blank = token.trim() === '' || token.startsWith('#')
      if (state === 'start' && !blank) {
        state = token === '[' ? 'header' : 'key'
        brackets = 0
        key = ''
      }
      if (state === 'header') {
        if (token === '[') brackets++
        else if (token !== ']') key += token
        else {
          table = this.#enter(keysOf(key), brackets === 2, line)
          // The second bracket and a comment may follow; neither matters before the line ends.
          state = 'value'
          brackets = brackets === 2 ? 1 : 0
        }
      } else if (state === 'key') {
        if (token !== '=') key += token
        else {
          this.#note([...table, ...keysOf(key)], table.length + 1, line)
          state = 'value'
          brackets = 0
        }
      } else if (state === 'value') {
        if (token === '[' || token === '{') brackets++
        else if (token === ']' || token === '}') brackets--
        else if (token === '\n' && brackets === 0) state = 'start'
      }
      line += token.split('\n').length - 1
    }
  }

  /** The line of the key or table, or of the nearest one around it. */
  lineOf(path: TomlPath): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(JSON.stringify(path.slice(0, length)))
      if (line !== undefined) return line
    }
    return 1
  }

  #enter(keys: readonly string[], isArray: boolean, line: number): TomlPath {
    const path: (string | number)[] = []
    for (const [index, key] of keys.entries()) {
      path.push(key)
      const name = JSON.stringify(path)
      const isLast = index === keys.length - 1
      if (isLast && isArray) this.#arrayTables.set(name, (this.#arrayTables.get(name) ?? -1) + 1)
      const number = this.#arrayTables.get(name)
      if (number !== undefined) path.push(number)
    }
    this.#note(path, 1, line)
    return path
  }

  /** A dotted name is the place of all tables it opens. */
  #note(path: TomlPath, from: number, line: number): void {
    for (let length = from; length <= path.length; length++) {
      const name = JSON.stringify(path.slice(0, length))
      if (!this.#lines.has(name)) this.#lines.set(name, line)
    }
  }
}

/** The parser itself knows best what quotes and escapes in a name mean. */
function keysOf(text: string): string[] {
  const keys: string[] = []
  let value: unknown = parse(`${text.trim()} = 0`)
  while (typeof value === 'object' && value !== null && keys.length < MAX_DEPTH) {
    const [[key, inner]] = Object.entries(value) as [[string, unknown]]
    keys.push(key)
    value = inner
  }
  return keys
}
