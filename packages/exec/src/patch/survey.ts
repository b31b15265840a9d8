import { ExecError, type FileOptions, type FileSystem } from '@waldo/environment'
import { baseName, containsPath, type PathUri, parent } from '@waldo/protocol'
import { PatchError } from './patch-error.ts'

/** What all files of one patch may hold together. */
const MAX_BYTES = 128 * 1024 * 1024
/** Directories that have to be looked at, at most: each is a call. */
const MAX_DIRECTORIES = 10_000

/** What is at a path. */
type Found =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly content: Uint8Array; readonly mode?: number }
  | { readonly kind: 'directory' | 'link' | 'other' }
  /** It could not be found out. */
  | { readonly kind: 'unknown'; readonly error: ExecError }

/** Where a path leads to, and what is there. */
export interface Site {
  /** Without links on the way: what is done there is done without following any. */
  readonly real: PathUri
  /** The same; but written below the directory to work in, as that was given, if it is in there. */
  readonly path: PathUri
  readonly found: Found
  /** Directories on the way that are not there yet, the uppermost first. */
  readonly missingDirectories: readonly PathUri[]
}

export interface SurveyOptions extends FileOptions {
  readonly files: FileSystem
  readonly cwd: PathUri
}

/** Looks at all these paths at once: every call is made before the first is answered. */
export async function survey(paths: readonly PathUri[], options: SurveyOptions): Promise<ReadonlyMap<PathUri, Site>> {
  const unique = [...new Set(paths)]
  const above = new Set<PathUri>([options.cwd])
  for (const path of unique) for (const directory of directoriesAbove(path, options.cwd)) above.add(directory)
  if (above.size > MAX_DIRECTORIES) {
    throw new PatchError('INVALID', `the paths of this patch lead through more than ${MAX_DIRECTORIES} directories`)
  }
  const reading = new AbortController()
  const { files, sandbox } = options
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
  const [founds, reals] = await Promise.all([
    Promise.all(unique.map((path) => lookAt(path, files.metadata(path, calls), read(path)))),
    Promise.all([...above].map(async (directory) => [directory, await realOf(directory, files, calls)] as const)),
  ])
  const directories = new Map(reals)
  return new Map(unique.map((path, index) => [path, siteOf(path, founds[index]!, directories, options.cwd)]))
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
  return { kind: 'file', content: read.value, ...(mode !== undefined && { mode }) }
}

type Metadata = Awaited<ReturnType<FileSystem['metadata']>>

/** Only what was said about the file is an answer: what was given up, or cut, is none. */
function failedLook(error: unknown): Found {
  if (ExecError.is(error, 'FILE_NOT_FOUND')) return { kind: 'missing' }
  if (ExecError.is(error) && error.code.startsWith('FILE_')) return { kind: 'unknown', error }
  throw error
}

/** Undefined: there is no such directory. What else may be wrong with it matters only to whoever needs it. */
async function realOf(
  directory: PathUri,
  files: FileSystem,
  options: FileOptions,
): Promise<PathUri | undefined | ExecError> {
  try {
    return await files.canonicalize(directory, options)
  } catch (error) {
    const found = failedLook(error)
    return found.kind === 'unknown' ? found.error : undefined
  }
}

/** From the nearest one upwards: to the directory to work in, or to the root if it is not in there. */
function directoriesAbove(path: PathUri, cwd: PathUri): PathUri[] {
  const directories: PathUri[] = []
  for (let at = parent(path); at !== undefined; at = parent(at)) {
    directories.push(at)
    if (at === cwd) break
  }
  return directories
}

function siteOf(
  path: PathUri,
  found: Found,
  directories: ReadonlyMap<PathUri, PathUri | undefined | ExecError>,
  cwd: PathUri,
): Site {
  const missing: PathUri[] = []
  const realCwd = directories.get(cwd)
  for (const directory of directoriesAbove(path, cwd)) {
    const real = directories.get(directory)
    if (real === undefined) {
      missing.unshift(directory)
      continue
    }
    if (typeof real !== 'string') {
      return { real: path, path, found: { kind: 'unknown', error: real }, missingDirectories: [] }
    }
    const target = moved(path, directory, real)
    // Whoever judges paths knows the directory to work in by the name that they gave it.
    const isWithin = typeof realCwd === 'string' && containsPath(realCwd, target)
    return {
      real: target,
      path: isWithin ? moved(target, realCwd, cwd) : target,
      found,
      missingDirectories: missing.map((each) => moved(each, directory, real)),
    }
  }
  return { real: path, path, found, missingDirectories: missing }
}

/** The path that is to `to` as `path` is to `from`. By spelling, so that no name is lost. */
function moved(path: PathUri, from: PathUri, to: PathUri): PathUri {
  const [old, next] = [from, to].map((directory) => directory.replace(/\/$/, ''))
  return `${next}${path.slice(old!.length)}` as PathUri
}
