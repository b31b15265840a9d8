import { toNativePath } from '../byte-string.ts'
import type { NativePath } from '../files/native-path.ts'
import { Turns } from '../turns.ts'
import { decodeCursor, encodeCursor } from './search-cursor.ts'
import {
  checkNumber,
  checkScope,
  MAX_REPORTED_ERRORS,
  MAX_RESULTS,
  type SearchError,
  type SearchScope,
} from './search-scope.ts'
import { walk } from './walk.ts'

export interface GlobRequest extends SearchScope {
  /** As for git, a symlink is a file, whatever it leads to. */
  readonly kind: 'file' | 'directory' | 'any'
  readonly limit: number
  readonly cursor?: string
}

interface GlobMatch {
  readonly path: NativePath
  readonly kind: 'file' | 'directory' | 'symlink'
}

export interface GlobAnswer {
  readonly matches: readonly GlobMatch[]
  /** To go on with; null if that was all. What is left may turn out to be nothing. */
  readonly cursor: string | null
  readonly errors: readonly SearchError[]
}

/** Finds paths by name. */
export async function glob(request: GlobRequest, signal: AbortSignal): Promise<GlobAnswer> {
  checkScope(request)
  checkNumber('limit', request.limit, 1, MAX_RESULTS)
  const after = request.cursor === undefined ? undefined : decodeCursor(request.cursor).path
  const turns = new Turns(signal)
  const matches: GlobMatch[] = []
  const errors: SearchError[] = []
  for (const entry of walk(request, after)) {
    const pause = turns.over()
    if (pause) await pause
    if (!entry) continue
    if (entry.kind === 'error') {
      if (errors.length < MAX_REPORTED_ERRORS) errors.push({ path: toNativePath(entry.path), message: entry.message })
      continue
    }
    const wanted = request.kind === 'any' || (request.kind === 'directory') === (entry.kind === 'directory')
    if (!wanted || entry.relative === after) continue
    matches.push({ path: toNativePath(entry.path), kind: entry.kind })
    if (matches.length === request.limit) {
      return { matches, cursor: encodeCursor({ path: entry.relative, line: 0 }), errors }
    }
  }
  return { matches, cursor: null, errors }
}
