import { UsageError } from './usage-error.ts'

/** `text` takes a value, `texts` may be given several times, `switch` takes none. */
type FlagKind = 'text' | 'texts' | 'switch'
type FlagTable = Readonly<Record<string, FlagKind>>
export type Flags<T extends FlagTable> = {
  [K in keyof T]?: T[K] extends 'text' ? string : T[K] extends 'texts' ? string[] : true
}

/**
 * Reads `--name value`, `--name=value` and `-h`. Node's `parseArgs` does the same, but loading it is a tenth of what
 * the server takes to start.
 */
export function parseFlags<const T extends FlagTable>(args: readonly string[], table: T, help: string): Flags<T> {
  const flags: Record<string, string | string[] | true> = {}
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name = '', given] = /^--([^=]+)(?:=(.*))?$/s.exec(arg === '-h' ? '--help' : arg) ?? []
    const kind = Object.hasOwn(table, name) ? table[name] : undefined
    if (kind === undefined) {
      const what = arg.startsWith('-') ? 'unknown option' : 'unexpected argument'
      throw new UsageError(`${what} \`${arg}\``, help)
    }
    if (kind === 'switch') {
      if (given !== undefined) throw new UsageError(`--${name} takes no value`, help)
      flags[name] = true
      continue
    }
    const value = given ?? rest.shift()
    if (value === undefined) throw new UsageError(`--${name} needs a value`, help)
    if (kind === 'texts') flags[name] = [...((flags[name] as string[]) ?? []), value]
    else if (flags[name] !== undefined) throw new UsageError(`--${name} is given twice`, help)
    else flags[name] = value
  }
  return flags as Flags<T>
}
