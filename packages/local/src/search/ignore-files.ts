import { lstatSync } from 'node:fs'
import { type ByteString, joinBytes, toNativePath } from '../byte-string.ts'
import { describe, errorCode } from '../files/file-error.ts'
import { type IgnoreRule, parseIgnoreFile } from './ignore-rules.ts'
import { IgnoreScope } from './ignore-scope.ts'
import { readFully, withRegularFile } from './open-regular.ts'

/** A larger ignore file does not count, and is reported. */
const MAX_FILE_BYTES = 256 * 1024
const MAX_POINTER_BYTES = 8192

export const REPOSITORY = '.git'

type Report = (path: ByteString, message: string) => void

/** Adds to the rules in force what the ignore files of a directory say. `names` are those it contains, where known. */
export function addIgnoreFiles(
  scope: IgnoreScope,
  directory: ByteString,
  names: { has(name: string): boolean },
  report: Report,
): IgnoreScope {
  let added = scope
  if (names.has(REPOSITORY)) {
    added = added.withoutGit()
    const exclude = joinBytes(gitDirectory(joinBytes(directory, REPOSITORY), report), 'info/exclude')
    added = guarded(exclude, report, added, () => added.withGit(readRules(exclude)))
  }
  if (names.has('.gitignore')) {
    const path = joinBytes(directory, '.gitignore')
    added = guarded(path, report, added, () => added.withGit(readRules(path)))
  }
  if (names.has('.ignore')) {
    const path = joinBytes(directory, '.ignore')
    added = guarded(path, report, added, () => added.withOwn(readRules(path)))
  }
  return added
}

/** The rules that a directory has from those above it, up to the top of its repository. None outside of one. */
export function inheritedRules(directory: ByteString, report: Report): IgnoreScope {
  if (directory === '/' || isRepository(directory)) return IgnoreScope.empty
  const names: ByteString[] = []
  let top = directory
  do {
    if (top === '/') return IgnoreScope.empty
    const slash = top.lastIndexOf('/')
    names.unshift(top.slice(slash + 1))
    top = slash === 0 ? '/' : top.slice(0, slash)
  } while (!isRepository(top))
  let scope = IgnoreScope.empty
  let at = top
  for (const name of names) {
    scope = addIgnoreFiles(scope, at, { has: (file) => file !== REPOSITORY || at === top }, report).enter(name)
    at = joinBytes(at, name)
  }
  return scope
}

function isRepository(directory: ByteString): boolean {
  return lstatSync(toNativePath(joinBytes(directory, REPOSITORY)), { throwIfNoEntry: false }) !== undefined
}

/** Where `.git` is a file, as in a worktree and in a submodule, it names the directory; a worktree's names the shared one. */
function gitDirectory(path: ByteString, report: Report): ByteString {
  const own = readPointer(path, report)?.match(/^gitdir: ([^\n]+)/)?.[1]
  if (own === undefined) return path
  const directory = resolve(path.slice(0, path.lastIndexOf('/') + 1), own)
  const shared = readPointer(joinBytes(directory, 'commondir'), report)?.match(/^[^\n]+/)?.[0]
  return shared === undefined ? directory : resolve(directory, shared)
}

function resolve(directory: ByteString, path: ByteString): ByteString {
  return path.startsWith('/') ? path : joinBytes(directory, path)
}

function readPointer(path: ByteString, report: Report): ByteString | undefined {
  return guarded(path, report, undefined, () =>
    withRegularFile(path, { follow: true }, (fd) => readFully(fd, Buffer.alloc(MAX_POINTER_BYTES)).toString('latin1')),
  )
}

/** As git, we do not read an ignore file through a symlink. */
function readRules(path: ByteString): IgnoreRule[] {
  const bytes = withRegularFile(path, { follow: false }, (fd, { size }) => {
    if (size > MAX_FILE_BYTES) throw new Error(`its rules do not count: it is larger than ${MAX_FILE_BYTES} bytes`)
    return readFully(fd, Buffer.alloc(size))
  })
  return bytes ? parseIgnoreFile(bytes) : []
}

/** A rule file that cannot be read does not end a search. One that is not there is no news. */
function guarded<T>(path: ByteString, report: Report, otherwise: T, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') report(path, describe(error))
    return otherwise
  }
}
