import { PatchError } from './patch-error.ts'
import { excessOf } from './text-limits.ts'

const LF = 0x0a
const CR = 0x0d
const BOM = [0xef, 0xbb, 0xbf]

/**
 * The content of a file as lines that know their bytes. Lines end with LF or CRLF, each as it does; what is not UTF-8
 * is compared as readers of text see it (U+FFFD), and kept as it is.
 */
export class TextFile {
  /** Without their endings. */
  readonly lines: readonly string[]
  readonly hasBom: boolean
  /** What new lines end with: as the first line of the file does. */
  readonly ending: '\n' | '\r\n'
  readonly #bytes: Uint8Array
  /** Where each line starts, and where the last one ends. */
  readonly #starts: Uint32Array

  /** `name` is for errors. */
  constructor(bytes: Uint8Array, name: string) {
    const excess = excessOf(bytes)
    if (excess !== undefined) throw new PatchError('MISMATCH', `${name} has ${excess}: edit it with a command`)
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
      throw new PatchError('MISMATCH', `${name} is UTF-16, which a patch would destroy: edit it with a command`)
    }
    this.#bytes = bytes
    this.hasBom = BOM.every((byte, index) => bytes[index] === byte)
    this.#starts = lineStarts(bytes, this.hasBom ? BOM.length : 0)
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(this.#starts[0]))
    const lines = text.split('\n')
    // The end of the last line is not the start of another.
    if (lines.at(-1) === '') lines.pop()
    // Without an LF behind it, a CR is a character like any other.
    const isEnded = bytes.at(-1) === LF
    this.lines = lines.map((line, index) =>
      line.endsWith('\r') && (isEnded || index < lines.length - 1) ? line.slice(0, -1) : line,
    )
    const end = this.#starts[1] ?? 0
    this.ending = bytes[end - 1] === LF && bytes[end - 2] === CR ? '\r\n' : '\n'
  }

  /** These lines with their endings, the last of which may lack one. */
  bytes(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[from], this.#starts[to])
  }

  /** What stands before the first line. */
  get prefix(): Uint8Array {
    return this.#bytes.subarray(0, this.#starts[0])
  }
}

function lineStarts(bytes: Uint8Array, first: number): Uint32Array {
  let count = 0
  for (let at = bytes.indexOf(LF, first); at !== -1; at = bytes.indexOf(LF, at + 1)) count++
  const isEnded = bytes.length === first || bytes.at(-1) === LF
  const starts = new Uint32Array(count + (isEnded ? 1 : 2))
  starts[0] = first
  let line = 1
  for (let at = bytes.indexOf(LF, first); at !== -1; at = bytes.indexOf(LF, at + 1)) starts[line++] = at + 1
  if (!isEnded) starts[line] = bytes.length
  return starts
}
