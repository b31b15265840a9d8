import { type Flags, parseFlags } from './flags.ts'
import { UsageError } from './usage-error.ts'

type Table = Parameters<typeof parseFlags>[1]

interface CommandSyntax<T extends Table> {
  readonly flags: T
  /** Letters for them: `-e` for `--environment`. */
  readonly letters?: Readonly<Record<string, keyof T & string>>
  /** Whether everything from the first operand on is for somebody else. */
  readonly commandFollows?: boolean
  /** Where to learn more. */
  readonly help: string
}

interface ParsedCommand<T extends Table> {
  readonly flags: Flags<T>
  readonly operands: string[]
  /** What comes after `--`. */
  readonly rest: string[] | undefined
}

/** Flags as `parseFlags` reads them, in any order with operands; one-letter flags as well; and what follows `--`. */
export function parseCommand<const T extends Table>(args: string[], syntax: CommandSyntax<T>): ParsedCommand<T> {
  const { flags: table, letters = {}, commandFollows = false, help } = syntax
  const given: string[] = []
  const operands: string[] = []
  let rest: string[] | undefined
  for (let at = 0; at < args.length; at++) {
    let arg = args[at]!
    if (arg === '--') {
      rest = args.slice(at + 1)
      break
    }
    if (!/^-./.test(arg)) {
      if (commandFollows) {
        rest = args.slice(at)
        break
      }
      operands.push(arg)
      continue
    }
    const [, letter = '', attached = ''] = /^-([^-])(.*)$/s.exec(arg) ?? []
    if (letter !== '' && arg !== '-h') {
      const name = Object.hasOwn(letters, letter) ? letters[letter] : undefined
      if (name === undefined) throw new UsageError(`unknown option \`-${letter}\``, help)
      // Letters that take nothing can be written together; what follows one that does is its value.
      const isSwitch = table[name] === 'switch'
      if (isSwitch && attached !== '') args = args.toSpliced(at + 1, 0, `-${attached}`)
      arg = isSwitch || attached === '' ? `--${name}` : `--${name}=${attached}`
    }
    given.push(arg)
    const takesNext = !arg.includes('=') && ['text', 'texts'].includes(table[arg.slice(2)] ?? '')
    if (takesNext && at + 1 < args.length) given.push(args[++at]!)
  }
  return { flags: parseFlags(given, table, help), operands, rest }
}
