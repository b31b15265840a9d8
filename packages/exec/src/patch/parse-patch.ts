import { LineReader, quoteLine } from './line-reader.ts'
import { parseHunks } from './parse-hunks.ts'
import type { AddSection, Patch, Section, UpdateSection } from './patch.ts'
import { PatchError } from './patch-error.ts'
import { patchLines } from './patch-lines.ts'

/** Each is several calls, and all of them are made at once. */
const MAX_SECTIONS = 1000
/** More than any system takes. */
const MAX_PATH_CHARACTERS = 4096
const MAX_PATH_DIRECTORIES = 64

const ENVIRONMENT = /^\*\*\* Environment ID:(.*)$/
const HEADER = /^\*\*\* (Add File|Delete File|Update File):(.*)$/
const MOVE = /^\*\*\* Move to:(.*)$/

/** Reads a patch as models write it: the grammar, and what they are known to add to it or leave out. */
export function parsePatch(text: string): Patch {
  const reader = new LineReader(patchLines(text))
  const environmentId = parseEnvironment(reader)
  const sections: Section[] = []
  for (;;) {
    reader.skipBlank()
    if (reader.current === undefined) break
    if (sections.length === MAX_SECTIONS) throw reader.error(`a patch has at most ${MAX_SECTIONS} files; split it`)
    sections.push(parseSection(reader))
  }
  return { ...(environmentId !== undefined && { environmentId }), sections }
}

function parseEnvironment(reader: LineReader): string | undefined {
  const id = ENVIRONMENT.exec(reader.current?.trim() ?? '')?.[1]?.trim()
  if (id === undefined) return undefined
  if (id === '') throw reader.error('the environment id is empty')
  reader.advance()
  if (ENVIRONMENT.test(reader.current?.trim() ?? '')) throw reader.error('the environment id is given twice')
  return id
}

function parseSection(reader: LineReader): Section {
  const { line } = reader
  const [, header, name = ''] = HEADER.exec(reader.current!.trim()) ?? []
  if (header === undefined) throw notAHeader(reader)
  const path = checkedPath(reader, name)
  reader.advance()
  switch (header) {
    case 'Add File':
      return { kind: 'add', path, line, content: parseContent(reader) }
    case 'Delete File':
      return { kind: 'delete', path, line }
    default:
      return parseUpdate(reader, path, line)
  }
}

function parseContent(reader: LineReader): AddSection['content'] {
  const content: string[] = []
  for (; reader.current?.startsWith('+'); reader.advance()) content.push(reader.current.slice(1))
  return content
}

function parseUpdate(reader: LineReader, path: string, line: number): UpdateSection {
  const [, target] = MOVE.exec(reader.current?.trimEnd() ?? '') ?? []
  const move = target === undefined ? {} : { moveTo: checkedPath(reader, target) }
  if (target !== undefined) reader.advance()
  const hunks = parseHunks(reader)
  if (hunks.length === 0 && target === undefined) {
    throw new PatchError('INVALID', `invalid hunk at line ${line}, Update file hunk for path '${path}' is empty`)
  }
  return { kind: 'update', path, line, ...move, hunks }
}

function checkedPath(reader: LineReader, text: string): string {
  const path = text.trim()
  if (path === '') throw reader.error('the path is empty')
  if (path.length > MAX_PATH_CHARACTERS) throw reader.error(`the path is longer than ${MAX_PATH_CHARACTERS} characters`)
  if (path.includes('\0')) throw reader.error('the path holds a NUL byte')
  if (/[\\/]$/.test(path)) throw reader.error(`${quoteLine(path)} names a directory, not a file`)
  // The last name is that of the file.
  if (path.split(/[\\/]+/).length - 1 > MAX_PATH_DIRECTORIES) {
    throw reader.error(`the path leads through more than ${MAX_PATH_DIRECTORIES} directories`)
  }
  return path
}

function notAHeader(reader: LineReader): PatchError {
  return reader.error(
    `${quoteLine(reader.current!.trim())} is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', ` +
      `'*** Delete File: {path}', '*** Update File: {path}'. Every line of a new file starts with '+'`,
  )
}
