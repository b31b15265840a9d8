import { base64 } from '../base64.ts'
import { array, boolean, type Decoded, object, oneOf, optional, string, unsigned, withDefault } from '../decode.ts'
import { type PathUri, pathUri } from '../path-uri.ts'
import { optionalSandbox } from '../sandbox-intent.ts'

const yes = withDefault(boolean, true)
const no = withDefault(boolean, false)
/** What almost every call has. */
const at = { path: pathUri, sandbox: optionalSandbox }

export const fsReadFileParams = object({ ...at, followSymlinks: yes })

export interface FsReadFileResult {
  dataBase64: string
}

export const fsWriteFileParams = object({ ...at, dataBase64: string, followSymlinks: yes })
export const fsCreateDirectoryParams = object({ ...at, recursive: yes, followSymlinks: yes })
export const fsGetMetadataParams = object({
  ...at,
  followSymlinks: yes,
  /** Extension `fsSetMode`: whether the permission bits are wanted, too. */
  withMode: no,
})

export interface FsMetadata {
  isDirectory: boolean
  isFile: boolean
  /** The path names a link; the other members describe what it leads to. */
  isSymlink: boolean
  size: number
  /** Milliseconds since 1970; 0 where nobody knows. */
  createdAtMs: number
  modifiedAtMs: number
  /** Permission bits, if they were asked for. */
  mode?: number
}

export const fsCanonicalizeParams = object(at)

export interface FsCanonicalizeResult {
  path: PathUri
}

export const fsReadDirectoryParams = object(at)

export interface FsReadDirectoryResult {
  entries: {
    fileName: string
    isDirectory: boolean
    isFile: boolean
    /** Only where the name is not UTF-8 and `fileName` therefore not the whole truth. */
    path?: PathUri
  }[]
}

export const fsWalkParams = object({
  ...at,
  options: object({
    maxDepth: unsigned(),
    maxDirectories: unsigned(),
    maxEntries: unsigned(),
    followDirectorySymlinks: boolean,
    pruneHiddenDirectories: no,
  }),
})
export type FsWalkOptions = Decoded<typeof fsWalkParams>['options']

export interface FsPathError {
  path: PathUri
  message: string
}

export interface FsWalkResult {
  entries: { path: PathUri; kind: 'file' | 'directory' }[]
  errors: FsPathError[]
  /** A limit has ended the walk before its time. */
  truncated: boolean
}

export const fsRemoveParams = object({ ...at, recursive: yes, force: yes, followSymlinks: yes })

export const fsCopyParams = object({
  sourcePath: pathUri,
  destinationPath: pathUri,
  recursive: boolean,
  sandbox: optionalSandbox,
})

export const fsOpenParams = object({
  ...at,
  /** Chosen by the client, at most 32 bytes; it belongs to the connection. */
  handleId: string,
  mode: withDefault(oneOf('read', 'replace'), 'read'),
  /** Extension `fsSetMode`: the permission bits of a file that does not exist yet, less the umask. */
  createMode: optional(unsigned(0o777)),
  followSymlinks: yes,
})

export interface FsOpenResult {
  handleId: string
}

export const fsReadBlockParams = object({ handleId: string, offset: unsigned(), len: unsigned() })

export interface FsReadBlockResult {
  chunk: string
  eof: boolean
}

export const fsWriteBlockParams = object({ handleId: string, offset: unsigned(), chunk: base64 })
export const fsCloseParams = object({ handleId: string })

export const fsWatchMissingParams = object({
  watchId: unsigned(),
  missing: array(pathUri),
  present: optional(pathUri),
})

export interface FsWatchMissingResult {
  watching: boolean
}
