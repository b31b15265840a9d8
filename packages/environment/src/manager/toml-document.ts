import { parse, TomlError, type TomlTableWithoutBigInt } from 'smol-toml'
import { ExecError } from '../errors.ts'
import { nearestKey } from './nearest-key.ts'
import { TomlLines } from './toml-lines.ts'

type Path = readonly (string | number)[]
/** What `setTimeout` can wait. */
const MAX_TIMEOUT_SEC = 2_147_483

/** A document with its name and lines, so that every error says where to look. */
export class TomlDocument {
  readonly root: TomlTable
  readonly #file: string
  readonly #text: string

  constructor(text: string, file: string) {
    this.#text = text
    this.#file = file
    this.root = new TomlTable(this, [], this.#parse())
  }

  /** Throws; `path` is what is wrong. */
  fail(path: Path, message: string): never {
    throw this.#error(new TomlLines(this.#text).lineOf(path), message)
  }

  /** The same for what has not the shape that such a document must have. */
  failShape(path: Path, message: string): never {
    return this.fail(path, this.#unparsable(message))
  }

  /** Runs a check that knows nothing of documents. */
  check<T>(path: Path, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (!ExecError.is(error)) throw error
      return this.fail(path, error.message)
    }
  }

  #parse(): TomlTableWithoutBigInt {
    try {
      return parse(this.#text, { maxDepth: 16 })
    } catch (error) {
      if (!(error instanceof TomlError)) throw error
      // Without the parser's error as a cause: it quotes the lines around, and there may be a token in them.
      const [reason] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
      throw this.#error(error.line, this.#unparsable(reason!))
    }
  }

  #unparsable(reason: string): string {
    return `failed to parse environment config \`${this.#file}\`: ${reason}`
  }

  #error(line: number, message: string): ExecError {
    return new ExecError('CONFIG_INVALID', `${this.#file}:${line}: ${message}`)
  }
}

/** One table of a document. Members that are missing are undefined; those of another type are errors. */
export class TomlTable {
  readonly #document: TomlDocument
  readonly #path: Path
  readonly #members: TomlTableWithoutBigInt

  constructor(document: TomlDocument, path: Path, members: TomlTableWithoutBigInt) {
    this.#document = document
    this.#path = path
    this.#members = members
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#members, key)
  }

  /** Throws; what is wrong is the table as a whole, or its member `key`. */
  fail(key: string | undefined, message: string): never {
    return this.#document.fail(this.#at(key), message)
  }

  check<T>(key: string, run: () => T): T {
    return this.#document.check(this.#at(key), run)
  }

  allowOnly(keys: readonly string[]): void {
    for (const key of Object.keys(this.#members)) {
      if (keys.includes(key)) continue
      const shown = key.length <= 64 ? key : `${key.slice(0, 64)}…`
      this.#document.failShape(this.#at(key), `unknown key \`${shown}\`; did you mean \`${nearestKey(key, keys)}\`?`)
    }
  }

  text(key: string): string | undefined {
    const value = this.#get(key)
    return value === undefined || typeof value === 'string' ? value : this.#wrong(key, 'a string')
  }

  flag(key: string): boolean | undefined {
    const value = this.#get(key)
    return value === undefined || typeof value === 'boolean' ? value : this.#wrong(key, 'true or false')
  }

  /** Seconds in the document, milliseconds for us. */
  timeoutMs(key: string): number | undefined {
    const value = this.#get(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && value >= 0 && value <= MAX_TIMEOUT_SEC) return Math.round(value * 1000)
    return this.#wrong(key, `a number of seconds from 0 to ${MAX_TIMEOUT_SEC}`)
  }

  texts(key: string): string[] | undefined {
    const value = this.#get(key)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.#wrong(key, 'an array of strings')
    return value.map((item) => (typeof item === 'string' ? item : this.#wrong(key, 'an array of strings')))
  }

  table(key: string): TomlTable | undefined {
    const value = this.#get(key)
    if (value === undefined) return undefined
    return isTable(value) ? new TomlTable(this.#document, this.#at(key), value) : this.#wrong(key, 'a table')
  }

  tables(key: string): TomlTable[] {
    const value = this.#get(key) ?? []
    if (!Array.isArray(value)) return this.#wrong(key, `an array of tables, each below a line [[${key}]]`)
    return value.map((item, index) => {
      if (!isTable(item)) return this.#wrong(key, `an array of tables, each below a line [[${key}]]`)
      return new TomlTable(this.#document, [...this.#at(key), index], item)
    })
  }

  /** All members, each of which must be a string. */
  allTexts(): Record<string, string> {
    return Object.fromEntries(Object.keys(this.#members).map((key) => [key, this.text(key)!]))
  }

  missing(key: string): never {
    return this.#document.failShape(this.#path, `missing key \`${key}\``)
  }

  #get(key: string): TomlTableWithoutBigInt[string] | undefined {
    return this.has(key) ? this.#members[key] : undefined
  }

  #at(key: string | undefined): Path {
    return key === undefined ? this.#path : [...this.#path, key]
  }

  #wrong(key: string, expected: string): never {
    return this.#document.failShape(this.#at(key), `\`${key}\` must be ${expected}`)
  }
}

function isTable(value: TomlTableWithoutBigInt[string]): value is TomlTableWithoutBigInt {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}
