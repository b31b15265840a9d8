import { type LineReader, quoteLine } from './line-reader.ts'
import type { Hunk, HunkLine } from './patch.ts'

const END_OF_FILE = '*** End of File'
const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/**
 * The hunks of one file, up to the next header. Only what starts in the first column is a marker here: a line of the
 * file that looks like one is indented by its prefix.
 */
export function parseHunks(reader: LineReader): Hunk[] {
  const hunks: Hunk[] = []
  for (;;) {
    // What is empty in front of the first line, or after the end of the file, belongs to nothing.
    if (hunks.length === 0 || hunks.at(-1)!.endOfFile) reader.skipBlank()
    if (isOver(reader)) return hunks
    if (hunks.length > 0 && !isContext(reader.current!)) {
      throw reader.error(`Expected update hunk to start with a @@ context marker, got: ${quoteLine(reader.current!)}`)
    }
    hunks.push(parseHunk(reader))
  }
}

function parseHunk(reader: LineReader): Hunk {
  const { line } = reader
  const contexts: string[] = []
  for (; !isOver(reader) && isContext(reader.current!); reader.advance()) {
    const context = reader.current!.slice(3)
    if (context.trim() !== '') contexts.push(context)
  }
  const lines: HunkLine[] = []
  /** Of the last line that is not completely empty. */
  let end = 0
  for (; !isOver(reader) && !isContext(reader.current!); reader.advance()) {
    const current = reader.current!
    if (current.trimEnd() === END_OF_FILE) break
    // Editors and models strip the one space of an empty line.
    const kind = current === '' ? 'keep' : KINDS[current[0]!]
    if (kind === undefined) throw unexpected(reader)
    lines.push({ kind, text: current.slice(1) })
    if (current !== '') end = lines.length
  }
  const endOfFile = reader.current?.trimEnd() === END_OF_FILE
  if (endOfFile) reader.advance()
  // Behind lines that are only added, what is empty separates: as a line to find it would move them elsewhere.
  if (lines.slice(0, end).every(({ kind }) => kind === 'add')) lines.length = end
  if (lines.length === 0) throw reader.error('Update hunk does not contain any lines')
  return { contexts, lines, endOfFile, line }
}

function isContext(line: string): boolean {
  return line.trimEnd() === '@@' || line.startsWith('@@ ')
}

function isOver({ current }: LineReader): boolean {
  return current === undefined || (current.startsWith('***') && current.trimEnd() !== END_OF_FILE)
}

function unexpected(reader: LineReader) {
  return reader.error(
    `Unexpected line found in update hunk: ${quoteLine(reader.current!)}. Every line should start with ' ' (context ` +
      `line), '+' (added line), or '-' (removed line)`,
  )
}
