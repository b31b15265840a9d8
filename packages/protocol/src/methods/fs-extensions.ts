import { array, boolean, type Decoded, object, oneOf, optional, string, unsigned, withDefault } from '../decode.ts'
import { type PathUri, pathUri } from '../path-uri.ts'
import { optionalSandbox } from '../sandbox-intent.ts'
import type { FsPathError } from './fs.ts'

/** What clients of the reference do not know. Each stands behind a capability. */
const yes = withDefault(boolean, true)
const no = withDefault(boolean, false)
const at = { path: pathUri, sandbox: optionalSandbox }

/** Extension `fsRename`. */
export const fsRenameParams = object({
  sourcePath: pathUri,
  destinationPath: pathUri,
  /** Whether a file that is there already is replaced. */
  overwrite: yes,
  sandbox: optionalSandbox,
})

/** Extension `fsAppend`: adds to the end, and creates the file if need be. */
export const fsAppendParams = object({ ...at, dataBase64: string, followSymlinks: yes })

/** Extension `fsSetMode`: permission bits, 0 to 0o7777. */
export const fsSetModeParams = object({ ...at, mode: unsigned(0o7777), followSymlinks: yes })

/** What both searches look at. */
const scope = {
  ...at,
  /** Relative to `path`; `!` in front excludes. None means everything. */
  globs: withDefault(array(string), []),
  respectIgnore: yes,
  hidden: no,
  cursor: optional(string),
}

/** Extension `fsGlob`. */
export const fsGlobParams = object({
  ...scope,
  kind: withDefault(oneOf('file', 'directory', 'any'), 'file'),
  limit: withDefault(unsigned(), 1000),
})

export type FsGlobParams = Decoded<typeof fsGlobParams>

export interface FsGlobResult {
  matches: { path: PathUri; kind: 'file' | 'directory' | 'symlink' }[]
  /** Continues after the last match; null if there is no more. */
  cursor: string | null
  errors: FsPathError[]
}

/** Extension `fsGrep`. */
export const fsGrepParams = object({
  ...scope,
  pattern: string,
  /** The pattern is text, not an expression. */
  fixed: no,
  ignoreCase: no,
  before: withDefault(unsigned(), 0),
  after: withDefault(unsigned(), 0),
  limit: withDefault(unsigned(), 200),
})

export type FsGrepParams = Decoded<typeof fsGrepParams>

export interface FsGrepMatch {
  line: number
  /** In bytes, from 1. */
  column: number
  text: string
  before: readonly string[]
  after: readonly string[]
  /** The line is longer than the text. */
  truncated?: true
  /** The line is not UTF-8. */
  lossy?: true
}

export interface FsGrepResult {
  files: { path: PathUri; matches: readonly FsGrepMatch[] }[]
  cursor: string | null
  skipped: { binary: number; tooLarge: number }
  errors: FsPathError[]
}

/** Extension `fsWatch`. The watch belongs to the session: it outlives a lost connection. */
export const fsWatchParams = object({
  ...at,
  watchId: string,
  recursive: yes,
  /** Where to go on after a lost connection: the last cursor that was seen. */
  cursor: optional(unsigned()),
})

export interface FsWatchResult {
  cursor: number
}

export const fsUnwatchParams = object({ watchId: string })

export interface FsChanged {
  watchId: string
  /** All changes up to here have been told. */
  cursor: number
  changes: { path: PathUri; kind: 'created' | 'modified' | 'removed' }[]
  /** Something may have been missed: look at everything again. */
  overflow: boolean
}
