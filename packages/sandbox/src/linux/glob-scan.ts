import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import type { FileRules } from '../policy/file-rules.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { child } from '../policy/posix-path.ts'

/** A tree with more names than this takes longer to look through than anybody wants to wait for a command. */
const MAX_NAMES = 500_000
/** How long others wait for us at most. */
const SLICE_MS = 4

export interface GlobMatch {
  readonly path: string
  readonly isDirectory: boolean
}

/** Finds what the deny patterns mean on this machine now. Links are not followed into directories. */
export async function scanGlobs({ globs, globDepth = Number.POSITIVE_INFINITY }: FileRules): Promise<GlobMatch[]> {
  const found = new Map<string, GlobMatch>()
  const byDirectory = Map.groupBy(globs, ({ directory }) => directory)
  let names = 0
  let resumeAt = performance.now() + SLICE_MS
  for (const [directory, patterns] of byDirectory) {
    const open = [{ directory, depth: 1 }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (performance.now() > resumeAt) {
        await new Promise(setImmediate)
        resumeAt = performance.now() + SLICE_MS
      }
      for (const entry of entriesOf(next.directory)) {
        if (++names > MAX_NAMES) throw tooMany(directory)
        const path = child(next.directory, entry.name)
        if (patterns.some((glob) => glob.matches(path)))
          for (const match of meant(path, entry)) found.set(match.path, match)
        else if (entry.isDirectory() && next.depth < globDepth) open.push({ directory: path, depth: next.depth + 1 })
      }
    }
  }
  return [...found.values()]
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return [] // Gone, or not for us to read: then it is not for the command either.
  }
}

/** A link cannot be covered; what it leads to can. */
function meant(path: string, entry: Dirent): GlobMatch[] {
  if (path.includes('\uFFFD')) {
    throw new PolicyError('unenforceable', `a deny pattern matches ${JSON.stringify(path)}, whose name is not UTF-8`)
  }
  if (!entry.isSymbolicLink()) return [{ path, isDirectory: entry.isDirectory() }]
  try {
    const target = realpathSync.native(path)
    return [{ path: target, isDirectory: statSync(target).isDirectory() }]
  } catch {
    return [] // It leads nowhere.
  }
}

function tooMany(directory: string): PolicyError {
  return new PolicyError(
    'unenforceable',
    `a deny pattern would have to be compared with more than ${MAX_NAMES} names below ${directory}: begin it with a ` +
      'deeper directory, or limit glob_scan_max_depth',
  )
}
