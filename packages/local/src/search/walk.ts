import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { type ByteString, isAscii, joinBytes, toByteString, toNativePath } from '../byte-string.ts'
import { describe, fileError, invalid } from '../files/file-error.ts'
import { decodeEscaped } from './escaped-text.ts'
import { Globs } from './globs.ts'
import { addIgnoreFiles, inheritedRules, REPOSITORY } from './ignore-files.ts'
import { IgnoreScope } from './ignore-scope.ts'
import type { SearchScope } from './search-scope.ts'

type EntryKind = 'file' | 'directory' | 'symlink'

export interface WalkEntry {
  readonly kind: EntryKind
  readonly path: ByteString
  /** From the root; empty for the root itself. */
  readonly relative: ByteString
}

export interface WalkError {
  readonly kind: 'error'
  readonly path: ByteString
  readonly message: string
}

/** A directory that the walk is in. */
interface Frame {
  readonly path: ByteString
  readonly relative: ByteString
  readonly entries: readonly Dirent<string>[]
  next: number
  readonly globs: Globs
  readonly ignore: IgnoreScope
  /** The names that lead from here to where the walk begins; empty where it has begun. */
  readonly from: readonly ByteString[]
}

/**
 * Everything that a search may look at, in order, from the path `from` on (and with it). Directories are read when they
 * are reached, so what changes ahead of the walk is seen. Symlinks are named and never followed; what is neither file,
 * directory nor symlink does not exist here.
 *
 * Each step is short, except that a directory is read at once, and yields nothing where there is nothing to tell, so
 * that whoever drives the walk can stop for a moment between any two.
 */
export function* walk(scope: SearchScope, from: ByteString | undefined): Generator<WalkEntry | WalkError | undefined> {
  const root = withoutTrailingSlashes(toByteString(scope.root))
  const globs = Globs.parse(scope.globs, scope.hidden)
  if (!rootStat(root).isDirectory()) {
    const name = root.slice(root.lastIndexOf('/') + 1)
    // Named by the root, a hidden name is as good as any: only a glob can exclude it.
    if (Globs.parse(scope.globs, true).selects(nameText(name), false)) yield { kind: 'file', path: root, relative: '' }
    return
  }
  const errors: WalkError[] = []
  const report = (path: ByteString, message: string) => void errors.push({ kind: 'error', path, message })
  const enter = (frame: Omit<Frame, 'entries' | 'next'>): Frame => {
    let entries: Dirent<string>[] = []
    try {
      entries = readdirSync(toNativePath(frame.path), { withFileTypes: true, encoding: 'latin1' })
    } catch (error) {
      report(frame.path, describe(error))
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    const names = new Set<string>()
    for (const { name } of entries) if (name.startsWith('.')) names.add(name)
    const ignore = scope.respectIgnore ? addIgnoreFiles(frame.ignore, frame.path, names, report) : frame.ignore
    return { ...frame, ignore, entries, next: 0 }
  }

  const inherited = scope.respectIgnore ? inheritedRules(realPath(root), report) : IgnoreScope.empty
  const stack = [enter({ path: root, relative: '', globs, ignore: inherited, from: from ? from.split('/') : [] })]
  while (stack.length > 0) {
    yield* errors.splice(0)
    const frame = stack.at(-1)!
    const entry = frame.entries[frame.next++]
    if (!entry) {
      stack.pop()
      continue
    }
    const { name } = entry
    const [first, ...rest] = frame.from
    // Above the beginning, what leads to it was named before.
    const passed = first !== undefined && (name < first || (name === first && rest.length > 0))
    const path = joinBytes(frame.path, name)
    if (name === REPOSITORY || (passed && name !== first)) {
      yield
      continue
    }
    const kind = kindOf(entry, path, report)
    if (!kind || frame.ignore.ignores(name, kind === 'directory')) {
      yield
      continue
    }
    const relative = frame.relative === '' ? name : `${frame.relative}/${name}`
    const text = nameText(name)
    yield !passed && frame.globs.selects(text, kind === 'directory') ? { kind, path, relative } : undefined
    const globsBelow = kind === 'directory' ? frame.globs.enter(text) : undefined
    if (!globsBelow) continue
    const ignore = frame.ignore.enter(name)
    stack.push(enter({ path, relative, globs: globsBelow, ignore, from: name === first ? rest : [] }))
  }
}

function rootStat(root: ByteString): Stats {
  try {
    const stat = statSync(toNativePath(root))
    if (stat.isDirectory() || stat.isFile()) return stat
  } catch (error) {
    throw fileError(error, toNativePath(root))
  }
  throw invalid(`cannot search what is neither a file nor a directory: ${toNativePath(root)}`)
}

function realPath(root: ByteString): ByteString {
  try {
    return toByteString(realpathSync(toNativePath(root), { encoding: 'buffer' }))
  } catch (error) {
    throw fileError(error, toNativePath(root))
  }
}

function kindOf(entry: Dirent<string>, path: ByteString, report: (path: ByteString, message: string) => void) {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  if (entry.isSymbolicLink()) return 'symlink'
  if (entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()) return undefined
  // Some file systems do not tell in the listing.
  try {
    const stat = lstatSync(toNativePath(path))
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : undefined
  } catch (error) {
    report(path, describe(error))
    return undefined
  }
}

/** Globs are about characters, where ignore rules are about bytes. */
function nameText(name: ByteString): string {
  return isAscii(name) ? name : decodeEscaped(Buffer.from(name, 'latin1'))
}

function withoutTrailingSlashes(path: ByteString): ByteString {
  return path.replace(/\/+$/, '') || '/'
}
