import { invalid } from '../files/file-error.ts'
import type { Turns } from '../turns.ts'
import { decodeEscaped, escapedByteLength } from './escaped-text.ts'
import { Excerpts } from './excerpts.ts'
import type { LinePattern } from './line-pattern.ts'
import type { SearchEvent } from './search-event.ts'
import { readTextFile } from './text-file.ts'
import type { WalkEntry, WalkError } from './walk.ts'

/**
 * The engine of the runtime gives up after some hundred million steps, and says then that there is no match. Whenever it
 * took this long to find none, we make sure.
 */
const SUSPICIOUS_MS = 20
/** Matches at the end of every text, as the group tells. If not even this is found, the engine has given up. */
const OR_THE_END = '|()(?![^])'

/**
 * Searches with the regular expressions of the runtime. These backtrack: for some expressions a single line takes longer
 * than anybody waits, and nothing in this process can stop it then. Whoever calls this must be able to kill it.
 */
export async function* searchInProcess(
  entries: Iterable<WalkEntry | WalkError | undefined>,
  pattern: LinePattern,
  turns: Turns,
): AsyncGenerator<SearchEvent> {
  const expression = compile(pattern)
  for (const entry of entries) {
    const pause = turns.over()
    if (pause) await pause
    if (entry?.kind === 'error') yield entry
    if (entry?.kind !== 'file') continue
    const file = readTextFile(entry)
    if (file?.kind === 'read') {
      const excerpts = new Excerpts(file.bytes)
      try {
        for (const place of matchingLines(file.bytes, expression)) {
          const pause = turns.over()
          if (pause) await pause
          yield { kind: 'found', path: entry.path, relative: entry.relative, ...place, excerpts }
        }
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        yield { kind: 'error', path: entry.path, message: error.message }
      }
    } else if (file) yield file
  }
}

interface Expression {
  readonly search: RegExp
  readonly control: RegExp
}

function compile({ javascript }: LinePattern): Expression {
  try {
    return { search: new RegExp(javascript, 'gu'), control: new RegExp(`(?:${javascript})${OR_THE_END}`, 'gu') }
  } catch (error) {
    throw invalid(`the pattern is too much for the engine: ${(error as Error).message}`)
  }
}

/** The first match of each line that has one. */
function* matchingLines(bytes: Buffer, expression: Expression): Generator<{ line: number; column: number }> {
  const text = decodeEscaped(bytes)
  let line = 1
  let start = 0
  while (start < text.length) {
    const found = nextMatch(text, start, expression)
    // Behind the last line end there is no line, though there is room for an empty match.
    if (found === undefined || (found === text.length && text.endsWith('\n'))) return
    for (let next = text.indexOf('\n', start); next >= 0 && next < found; next = text.indexOf('\n', start)) {
      line++
      start = next + 1
    }
    yield { line, column: escapedByteLength(text, start, found) + 1 }
    const end = text.indexOf('\n', found)
    if (end < 0) return
    line++
    start = end + 1
  }
}

function nextMatch(text: string, start: number, { search, control }: Expression): number | undefined {
  search.lastIndex = start
  const began = performance.now()
  const found = search.exec(text)
  if (found) return found.index
  if (performance.now() - began < SUSPICIOUS_MS) return undefined
  control.lastIndex = start
  if (control.exec(text)) return undefined
  throw new RangeError('this pattern has too many ways to match in this file: make it simpler, or install ripgrep')
}
