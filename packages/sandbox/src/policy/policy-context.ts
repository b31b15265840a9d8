import { type DecodeError, type PathUri, type SandboxIntent, toPosixPath } from '@waldo/protocol'
import { literal } from './deny-glob.ts'
import { PolicyError } from './policy-error.ts'
import { isWithin, normalize } from './posix-path.ts'

/** Each may have to be looked up for each entry. */
const MAX_DIRECTORIES = 256
/** No system call takes a longer one. */
const MAX_PATH_LENGTH = 4096
const TOO_LONG = `it is longer than the ${MAX_PATH_LENGTH} characters that a path can have`
const PROJECT_ROOTS = 'codex-project-roots://'

/** The directories that the words of a profile stand for. */
export interface PolicyContext {
  readonly cwd: string | undefined
  readonly roots: readonly string[]
  /** Undefined: whatever the executor has. */
  readonly temporaries: readonly string[] | undefined
}

/** `fallback` stands in for a `cwd` that the intent does not have. */
export function contextOf(intent: SandboxIntent, fallback: string | undefined): PolicyContext {
  const { policyContext } = intent
  const given = intent.cwd ?? policyContext?.cwd
  const roots = intent.workspaceRoots.length > 0 ? intent.workspaceRoots : (policyContext?.workspaceRoots ?? [])
  if (roots.length + (intent.temporaryDirectories?.length ?? 0) > MAX_DIRECTORIES) {
    throw new PolicyError('unenforceable', `more than ${MAX_DIRECTORIES} workspace roots and temporary directories`)
  }
  const native = (what: string) => (uri: PathUri) =>
    nativePath(
      uri,
      (reason) => `sandbox ${what} URI \`${uri.slice(0, 200)}\` is not valid on this exec-server host: ${reason}`,
    )
  return {
    cwd: given === undefined ? fallback : native('cwd')(given),
    roots: roots.map(native('workspace root')),
    temporaries: intent.temporaryDirectories?.map(native('temporary directory')),
  }
}

export function nativePath(uri: PathUri, explain: (reason: string) => string): string {
  let path: string | Uint8Array
  try {
    path = toPosixPath(uri)
  } catch (cause) {
    throw new PolicyError('foreign', explain((cause as DecodeError).message), { cause })
  }
  const normal = typeof path === 'string' ? normalize(path) : undefined
  if (normal === undefined || normal.includes('\0')) {
    throw new PolicyError('unenforceable', explain('only paths that are UTF-8 text can be enforced'))
  }
  if (normal.length > MAX_PATH_LENGTH) throw new PolicyError('unenforceable', explain(TOO_LONG))
  return normal
}

export function subpathOf(root: string, subpath: string | undefined): string {
  if (subpath === undefined) return root
  const path = subpath.includes('\0') ? undefined : normalize(`${root}/${subpath}`)
  if (path === undefined || subpath.startsWith('/') || !isWithin(root, path)) {
    throw new PolicyError('unenforceable', `the subpath ${JSON.stringify(subpath.slice(0, 100))} leads out of its root`)
  }
  if (path.length > MAX_PATH_LENGTH) throw new PolicyError('unenforceable', `a subpath is too much: ${TOO_LONG}`)
  return path
}

export function cwdOf({ cwd }: PolicyContext): string {
  if (cwd !== undefined) return cwd
  throw new PolicyError('context', 'file system sandbox context with dynamic permissions requires cwd')
}

/** One for each root, if the pattern is about the roots. What is in the names of directories is not a pattern. */
export function absolutePatterns(pattern: string, context: PolicyContext): string[] {
  const isOfRoots = pattern.startsWith(PROJECT_ROOTS)
  const rest = isOfRoots ? pattern.slice(PROJECT_ROOTS.length) : pattern
  if (/^[./]*$/.test(rest)) {
    throw new PolicyError('unenforceable', `the deny pattern ${JSON.stringify(pattern.slice(0, 100))} names nothing`)
  }
  if (rest.startsWith('/') && !isOfRoots) return [rest]
  const cwd = cwdOf(context)
  return (isOfRoots ? context.roots : [cwd]).map((directory) => `${literal(directory)}/${rest}`)
}
