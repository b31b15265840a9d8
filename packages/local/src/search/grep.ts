import { toNativePath } from '../byte-string.ts'
import type { NativePath } from '../files/native-path.ts'
import { Turns } from '../turns.ts'
import type { GrepMatch } from './excerpts.ts'
import { compilePattern } from './line-pattern.ts'
import { searchInProcess } from './regex-engine.ts'
import { searchWithRipgrep } from './ripgrep-engine.ts'
import { decodeCursor, encodeCursor, type SearchPosition } from './search-cursor.ts'
import type { Found, SearchEvent } from './search-event.ts'
import {
  checkNumber,
  checkScope,
  MAX_CONTEXT_LINES,
  MAX_REPORTED_ERRORS,
  MAX_RESULTS,
  type SearchError,
  type SearchScope,
} from './search-scope.ts'
import { walk } from './walk.ts'

/** An answer ends early, with a cursor, when its texts and paths have this size. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface GrepRequest extends SearchScope {
  /** A text if `fixed`, else an expression of the dialect that `ExpressionParser` describes. */
  readonly pattern: string
  readonly fixed: boolean
  /** By Unicode's simple case folding. */
  readonly ignoreCase: boolean
  /** How many lines to show around each match. */
  readonly before: number
  readonly after: number
  /** How many lines that match. */
  readonly limit: number
  readonly cursor?: string
}

interface GrepFile {
  readonly path: NativePath
  readonly matches: readonly GrepMatch[]
}

export interface GrepAnswer {
  readonly files: readonly GrepFile[]
  /** To go on with; null if that was all. What is left may turn out to be nothing. */
  readonly cursor: string | null
  /** Files that were not searched on the way from the cursor to here. */
  readonly skipped: { readonly binary: number; readonly tooLarge: number }
  readonly errors: readonly SearchError[]
}

export interface GrepOptions {
  /** The program. Without it the search runs in this process, which an expression can block for good. */
  readonly ripgrep: string | undefined
}

/** Finds lines in files. */
export async function grep(request: GrepRequest, options: GrepOptions, signal: AbortSignal): Promise<GrepAnswer> {
  checkScope(request)
  checkNumber('limit', request.limit, 1, MAX_RESULTS)
  checkNumber('before', request.before, 0, MAX_CONTEXT_LINES)
  checkNumber('after', request.after, 0, MAX_CONTEXT_LINES)
  const pattern = compilePattern(request.pattern, request)
  const after = request.cursor === undefined ? undefined : decodeCursor(request.cursor)
  const turns = new Turns(signal)
  const entries = walk(request, after?.path)
  const events = options.ripgrep
    ? searchWithRipgrep(entries, pattern, options.ripgrep, signal)
    : searchInProcess(entries, pattern, turns)
  const answer = new AnswerBuilder(request, after)
  for await (const event of events) {
    answer.add(event)
    if (answer.full) break
  }
  return answer.build()
}

class AnswerBuilder {
  readonly #request: GrepRequest
  readonly #after: SearchPosition | undefined
  readonly #files: { path: NativePath; matches: GrepMatch[] }[] = []
  readonly #skipped = { binary: 0, tooLarge: 0 }
  readonly #errors: SearchError[] = []
  #last: Found | undefined
  #count = 0
  #bytes = 0

  constructor(request: GrepRequest, after: SearchPosition | undefined) {
    this.#request = request
    this.#after = after
  }

  get full(): boolean {
    return this.#count >= this.#request.limit || this.#bytes >= MAX_ANSWER_BYTES
  }

  add(event: SearchEvent): void {
    if (event.kind === 'found') this.#addMatch(event)
    else if (event.kind === 'skipped') this.#skipped[event.reason]++
    else if (this.#errors.length < MAX_REPORTED_ERRORS) {
      this.#errors.push({ path: toNativePath(event.path), message: event.message })
    }
  }

  build(): GrepAnswer {
    const { relative: path, line } = this.#last ?? {}
    const cursor = this.full && path !== undefined && line !== undefined ? encodeCursor({ path, line }) : null
    return { files: this.#files, cursor, skipped: this.#skipped, errors: this.#errors }
  }

  #addMatch(found: Found): void {
    if (found.relative === this.#after?.path && found.line <= this.#after.line) return
    const match = found.excerpts.at(found.line, found.column, this.#request)
    // The file has lost lines since they were found.
    if (!match) return
    if (this.#last?.path !== found.path) {
      this.#files.push({ path: toNativePath(found.path), matches: [] })
      this.#bytes += found.path.length
    }
    this.#files.at(-1)!.matches.push(match)
    this.#last = found
    this.#count++
    for (const text of [match.text, ...match.before, ...match.after]) this.#bytes += Buffer.byteLength(text)
  }
}
