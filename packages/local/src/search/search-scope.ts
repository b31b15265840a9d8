import { invalid } from '../files/file-error.ts'
import type { NativePath } from '../files/native-path.ts'

export const MAX_RESULTS = 10_000
export const MAX_CONTEXT_LINES = 50
export const MAX_PATTERN_BYTES = 4096
const MAX_GLOBS = 64
const MAX_GLOB_BYTES = 1024
/** What an answer says of the files that it could not look into: the first so many. */
export const MAX_REPORTED_ERRORS = 100

/**
 * What a search looks at. Its answers depend on the tree alone: on no setting of the user's, and not on which programs
 * are installed.
 *
 * Results come in the order of a walk that takes the names of each directory byte by byte and goes into a directory
 * right after having named it. On whole paths that is: compare byte by byte, with `/` before every other byte.
 */
export interface SearchScope {
  /** Absolute. A directory, or a single file, which neither `hidden` nor ignore rules exclude: it was asked for. */
  readonly root: NativePath
  /**
   * Which paths below the root count; all if empty. Syntax and meaning are those of `.gitignore`, plus `{a,b}`: without
   * a slash a name at any depth, with one a path from the root, and the last that matches decides. `!` excludes, and a
   * directory that is excluded is not entered.
   */
  readonly globs: readonly string[]
  /**
   * Whether `.gitignore`, `.ignore` and `.git/info/exclude` count: those of the root and below, inside and outside of a
   * repository, and inside one those of the directories up to its top as well.
   */
  readonly respectIgnore: boolean
  /** Whether names that begin with a dot count. Those that a glob spells with its dot always do; `.git` never does. */
  readonly hidden: boolean
}

/** Something that could not be looked into. The search went on without it. */
export interface SearchError {
  readonly path: NativePath
  readonly message: string
}

export function checkScope({ root, globs }: SearchScope): void {
  const absolute = typeof root === 'string' ? root.startsWith('/') : root[0] === 0x2f
  if (!absolute) throw invalid('a search needs an absolute path to start from')
  if (globs.length > MAX_GLOBS) throw invalid(`${globs.length} globs are too many: give at most ${MAX_GLOBS}`)
  for (const glob of globs) {
    if (Buffer.byteLength(glob) > MAX_GLOB_BYTES) {
      throw invalid(`a glob is longer than ${MAX_GLOB_BYTES} bytes: ${glob.slice(0, 40)}…`)
    }
  }
}

export function checkNumber(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw invalid(`${name} must be a whole number from ${least} to ${most}, not ${value}`)
  }
}
