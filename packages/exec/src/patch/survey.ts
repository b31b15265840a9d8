import { ExecError, type FileOptions, type FileSystem } from '@waldo/environment'
import { baseName, type PathUri, parent } from '@waldo/protocol'
import { PatchError } from './patch-error.ts'
import { type Canonical, type RealPath, RealPaths } from './real-paths.ts'

/** What all files of one patch may hold together. */
const MAX_BYTES = 128 * 1024 * 1024
/** Directories that have to be looked at, at most: each is a call. */
const MAX_DIRECTORIES = 10_000

/** What is at a path. */
type Found =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly content: Uint8Array; readonly mode?: number; readonly times: string }
  | { readonly kind: 'directory' | 'link' | 'other' }
  /** It could not be found out. */
  | { readonly kind: 'unknown'; readonly error: ExecError }

/** Where a path leads to, and what is there. What is done there is done at `real`, without following any link. */
export interface Site extends RealPath {
  readonly found: Found
}

export interface Survey {
  /** By the path that leads there. */
  readonly sites: ReadonlyMap<PathUri, Site>
  /** Where the directory to work in really is, written as the paths of sites are. */
  readonly directory: PathUri
}

export interface SurveyOptions extends FileOptions {
  readonly files: FileSystem
  readonly cwd: PathUri
  /** Directories by the names that people gave them, the one that counts first. */
  readonly homes: readonly PathUri[]
  /** Throws a `PatchError` if `cwd` is no directory that is there. */
  readonly requireDirectory?: true
}

/** Looks at all these paths at once: every call is made before the first is answered. */
export async function survey(paths: readonly PathUri[], options: SurveyOptions): Promise<Survey> {
  const { files, sandbox, cwd, homes, requireDirectory } = options
  const unique = [...new Set(paths)]
  const directories = new Set([...directoriesAbove(unique, cwd), ...homes])
  const reading = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, reading.signal]) : reading.signal
  const calls = { sandbox, signal }
  let bytes = 0
  const read = async (path: PathUri): Promise<Uint8Array> => {
    const content = await files.readFile(path, calls)
    bytes += content.length
    if (bytes > MAX_BYTES) {
      reading.abort(new PatchError('MISMATCH', `the files of this patch hold more than ${MAX_BYTES} bytes: split it`))
    }
    signal.throwIfAborted()
    return content
  }
  const [problem, founds, reals] = await Promise.all([
    requireDirectory && unusable(cwd, files.metadata(cwd, calls)),
    Promise.all(unique.map((path) => lookAt(path, files.metadata(path, calls), read(path)))),
    Promise.all([...directories].map(async (directory) => [directory, await realOf(directory, files, calls)] as const)),
  ])
  if (problem) throw problem
  const realPaths = new RealPaths(new Map(reals), homes)
  const sites = new Map(unique.map((path, index) => [path, siteOf(path, founds[index]!, realPaths)]))
  const directory = realPaths.directory(cwd)
  // One that cannot be looked at is nowhere else for all that we know; and nothing is relative to it, or that fails.
  return { sites, directory: ExecError.is(directory) ? cwd : directory }
}

/** Why nothing can be done in a directory; undefined: it is one, and it is there. */
async function unusable(directory: PathUri, describing: Promise<Metadata>): Promise<PatchError | undefined> {
  const because = (reason: string, options?: ErrorOptions) =>
    new PatchError('MISMATCH', `cannot work in ${directory}: ${reason}`, options)
  try {
    return (await describing).isDirectory ? undefined : because('it is not a directory')
  } catch (error) {
    const found = failedLook(error)
    if (found.kind !== 'unknown') return because('there is no such directory')
    return because(found.error.message, { cause: found.error })
  }
}

async function lookAt(path: PathUri, describing: Promise<Metadata>, reading: Promise<Uint8Array>): Promise<Found> {
  const [described, read] = await Promise.allSettled([describing, reading])
  if (described.status === 'rejected') return failedLook(described.reason)
  const { isSymlink, isDirectory, isFile, mode } = described.value
  if (isSymlink) return { kind: 'link' }
  if (isDirectory) return { kind: 'directory' }
  if (!isFile) return { kind: 'other' }
  if (read.status === 'rejected') return failedLook(read.reason)
  if (baseName(path) === undefined) return { kind: 'other' }
  const times = `${described.value.createdAtMs} ${described.value.modifiedAtMs}`
  return { kind: 'file', content: read.value, times, ...(mode !== undefined && { mode }) }
}

type Metadata = Awaited<ReturnType<FileSystem['metadata']>>

/** Only what was said about the file is an answer: what was given up, or cut, is none. */
function failedLook(error: unknown): Found {
  if (ExecError.is(error, 'FILE_NOT_FOUND')) return { kind: 'missing' }
  if (ExecError.is(error) && error.code.startsWith('FILE_')) return { kind: 'unknown', error }
  throw error
}

/** What may be wrong with a directory matters only to whoever needs it. */
async function realOf(directory: PathUri, files: FileSystem, options: FileOptions): Promise<Canonical> {
  try {
    return await files.canonicalize(directory, options)
  } catch (error) {
    const found = failedLook(error)
    return found.kind === 'unknown' ? found.error : undefined
  }
}

/** To the root: the directory to work in may not be there, or be behind a link that whoever wrote the patch has made. */
function directoriesAbove(paths: readonly PathUri[], cwd: PathUri): ReadonlySet<PathUri> {
  const directories = new Set<PathUri>()
  for (const start of [cwd, ...paths.map((path) => parent(path))]) {
    for (let at = start; at !== undefined && !directories.has(at); at = parent(at)) {
      directories.add(at)
      if (directories.size <= MAX_DIRECTORIES) continue
      throw new PatchError('INVALID', `the paths of this patch lead through more than ${MAX_DIRECTORIES} directories`)
    }
  }
  return directories
}

function siteOf(path: PathUri, found: Found, realPaths: RealPaths): Site {
  const where = realPaths.entry(path)
  if (!ExecError.is(where)) return { ...where, found }
  return { real: path, path, missingDirectories: [], found: { kind: 'unknown', error: where } }
}
