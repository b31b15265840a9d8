import { LineFinder, type SearchEffort } from './find-lines.ts'
import { nearestLines, shownLine } from './nearest-lines.ts'
import type { Hunk, HunkLine } from './patch.ts'
import { PatchError } from './patch-error.ts'
import { TextFile } from './text-file.ts'

const SHOWN_LINES = 12

/** Lines of a file that go, and those that come in their place. */
interface Edit {
  readonly start: number
  readonly removed: number
  readonly added: readonly string[]
}

/**
 * The content of a file after the hunks. Lines that no hunk removes stay byte for byte, also those that it names as
 * context and that look a little different there. An added line ends as the first line of the file does; so does the
 * last line of the file if something comes after it. A last line without an end keeps lacking it as long as it stays.
 */
export function applyHunks(
  content: Uint8Array,
  hunks: readonly Hunk[],
  { name, effort }: { name: string; effort: SearchEffort },
): Uint8Array {
  // A file may be mentioned again and again.
  effort.spend(content.length)
  const file = new TextFile(content, name)
  const finder = new LineFinder(file.lines, effort)
  const edits: Edit[] = []
  let cursor = 0
  for (const [index, hunk] of hunks.entries()) {
    const where = `${name} (hunk ${index + 1}, line ${hunk.line} of the patch)`
    const place = locate(finder, hunk, { cursor, where })
    // Not spread: there may be more of them than a call takes arguments.
    for (const edit of editsOf(place.lines, place.start)) edits.push(edit)
    cursor = place.cursor
  }
  // What is added at the end was found before what comes after it in the patch. Sorting keeps the order of equals.
  return rewritten(
    file,
    edits.sort((a, b) => a.start - b.start),
  )
}

interface Place {
  readonly start: number
  readonly lines: readonly HunkLine[]
  /** Where the search for the next hunk starts. */
  readonly cursor: number
}

function locate(finder: LineFinder, hunk: Hunk, { cursor, where }: { cursor: number; where: string }): Place {
  let from = cursor
  for (const context of hunk.contexts) {
    const found = finder.find([context], from)
    if (found === undefined) throw notFound(`context '${shownLine(context)}' in ${where}`, [context], finder, from)
    from = found + 1
  }
  if (oldLines(hunk.lines).length === 0) {
    const isHere = hunk.contexts.length > 0 && !hunk.endOfFile
    return { start: isHere ? from : finder.lines.length, lines: hunk.lines, cursor: from }
  }
  for (const lines of new Set([hunk.lines, withoutLastEmpty(hunk.lines)])) {
    const old = oldLines(lines)
    if (old.length === 0) continue
    // The context may be repeated as the first line of the hunk.
    for (const first of hunk.contexts.length > 0 ? [from, from - 1] : [from]) {
      const start = hunk.endOfFile ? finder.findAtEnd(old, first) : finder.find(old, first)
      if (start !== undefined) return { start, lines, cursor: start + old.length }
    }
  }
  const old = oldLines(hunk.lines)
  const shown = old.slice(0, SHOWN_LINES).map(shownLine)
  if (old.length > SHOWN_LINES) shown.push(`… and ${old.length - SHOWN_LINES} more`)
  const end = hunk.endOfFile ? ' at the end of the file' : ''
  throw notFound(`expected lines in ${where}${end}:\n${shown.join('\n')}`, old, finder, from)
}

/** A patch may count the end of the last line as an empty line of its own. */
function withoutLastEmpty(lines: readonly HunkLine[]): readonly HunkLine[] {
  const last = lines.findLastIndex(({ kind }) => kind !== 'add')
  if (lines[last]?.text !== '') return lines
  if (lines[last].kind === 'remove') {
    const added = lines.at(-1)!
    return lines.filter((line, index) => index !== last && !(line === added && line.kind === 'add' && line.text === ''))
  }
  let end = last
  while (end > 0 && lines[end - 1]!.kind === 'keep' && lines[end - 1]!.text === '') end--
  return lines.filter((_, index) => index < end || index > last)
}

function oldLines(lines: readonly HunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text)
}

function editsOf(lines: readonly HunkLine[], start: number): Edit[] {
  const edits: Edit[] = []
  let at = start
  for (let index = 0; index < lines.length; ) {
    if (lines[index]!.kind === 'keep') {
      at++
      index++
      continue
    }
    const first = index
    while (index < lines.length && lines[index]!.kind !== 'keep') index++
    const run = lines.slice(first, index)
    const added = run.filter(({ kind }) => kind === 'add').map(({ text }) => text)
    const removed = run.length - added.length
    edits.push({ start: at, removed, added })
    at += removed
  }
  return edits
}

function rewritten(file: TextFile, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [file.prefix]
  const encoder = new TextEncoder()
  const ending = encoder.encode(file.ending)
  const push = (part: Uint8Array) => {
    const last = parts.at(-1)!
    if (part.length === 0) return
    if (parts.length > 1 && last.at(-1) !== 0x0a) parts.push(ending)
    parts.push(part)
  }
  let next = 0
  for (const { start, removed, added } of edits) {
    push(file.bytes(next, start))
    next = start + removed
    if (added.length === 0) continue
    const lines = added.map((line) => `${line}${file.ending}`).join('')
    // There is one already.
    push(encoder.encode(file.hasBom && start === 0 && lines.startsWith('\ufeff') ? lines.slice(1) : lines))
  }
  push(file.bytes(next, file.lines.length))
  return concat(parts)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function notFound(what: string, wanted: readonly string[], finder: LineFinder, from: number): PatchError {
  const earlier = from > 0 ? finder.find(wanted, 0) : undefined
  const hint =
    earlier === undefined
      ? nearestLines(finder.lines, wanted)
      : `They are at line ${earlier + 1}, above or within what was found before: hunks go from top to bottom.`
  return new PatchError('MISMATCH', `Failed to find ${what}${hint === '' ? '' : `\n${hint}`}`)
}
