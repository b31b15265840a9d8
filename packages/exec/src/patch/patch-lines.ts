import { PatchError } from './patch-error.ts'

/** Far more than a model writes at once. */
const MAX_PATCH_CHARACTERS = 8 * 1024 * 1024

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'

/** The lines between the first marker and the last one, and which line of the text the first of them is. */
export interface PatchLines {
  readonly lines: readonly string[]
  readonly firstLine: number
}

/** Takes off what models wrap around a patch: empty lines, a here-document, carriage returns. */
export function patchLines(text: string): PatchLines {
  if (text.length > MAX_PATCH_CHARACTERS) {
    throw invalid(`it is longer than ${MAX_PATCH_CHARACTERS} characters; split it`)
  }
  // Written to a file it would silently become another character.
  if (!text.isWellFormed()) throw invalid('it holds half a character (a lone surrogate)')
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  let range = withoutBlank(lines, 0, lines.length)
  if (isWrapped(lines, range)) range = withoutBlank(lines, range.start + 1, range.end - 1)
  const { start, end } = range
  if (lines[start]?.trim() !== BEGIN) throw invalid(`The first line of the patch must be '${BEGIN}'`)
  if (end - start < 2 || lines[end - 1]?.trim() !== END) {
    throw invalid(`The last line of the patch must be '${END}'`)
  }
  return { lines: lines.slice(start + 1, end - 1), firstLine: start + 2 }
}

interface Range {
  readonly start: number
  readonly end: number
}

function withoutBlank(lines: readonly string[], start: number, end: number): Range {
  let [first, last] = [start, end]
  while (first < last && lines[first]!.trim() === '') first++
  while (last > first && lines[last - 1]!.trim() === '') last--
  return { start: first, end: last }
}

/** `<<'EOF'` … `EOF`, as if there were a shell. */
function isWrapped(lines: readonly string[], { start, end }: Range): boolean {
  if (end - start < 4) return false
  return /^<<(?:EOF|'EOF'|"EOF")$/.test(lines[start]!.trim()) && lines[end - 1]!.trimEnd().endsWith('EOF')
}

function invalid(reason: string): PatchError {
  return new PatchError('INVALID', `invalid patch: ${reason}`)
}
