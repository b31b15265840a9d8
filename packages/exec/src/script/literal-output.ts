import { decodeAnsiC } from './ansi-c-string.ts'
import { carriesCommand } from './handed-on.ts'
import { baseName } from './shell-wrapper.ts'

interface LiteralOutput {
  /** With its backslashes, as some write them. */
  readonly raw: string
  /** With what they stand for, as others do. */
  readonly decoded: string
}

/** More is not read as a script anyway. */
const MAX_OUTPUT = 128 * 1024

/** What `echo` or `printf` writes, as far as its words tell. Undefined for anything else. */
export function literalOutput(words: readonly string[]): LiteralOutput | undefined {
  const isWriter = (word: string | undefined) => /^(?:echo|printf|print)$/.test(baseName(word ?? ''))
  const at = carriesCommand(words) ? words.findIndex(isWriter) : isWriter(words[0]) ? 0 : -1
  if (at < 0) return undefined
  const given = words.slice(at + 1)
  const start = given.findIndex((word) => !/^-(?:[neErR]*|-)$/.test(word))
  if (start < 0) return undefined
  const [format = '', ...values] = given.slice(start)
  const raw = baseName(words[at]!) === 'printf' ? formatted(format, values) : [format, ...values].join(' ')
  return { raw, decoded: decodeAnsiC(raw) }
}

/** The format as often as there are values for it. Widths and the like are left out: they only add blanks. */
function formatted(format: string, values: readonly string[]): string {
  let text = ''
  let used = 0
  do {
    const before = used
    text += format.replace(/%(%|[^A-Za-z%]{0,20}[A-Za-z])/g, (_, kind: string) =>
      kind === '%' ? kind : (values[used++] ?? ''),
    )
    // Nothing in it takes a value, so the others are not written.
    if (used === before) break
  } while (used < values.length && text.length < MAX_OUTPUT)
  return text
}
