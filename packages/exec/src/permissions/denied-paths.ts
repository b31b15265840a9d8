import { ExecError, type FileSystem } from '@waldo/environment'
import {
  baseName,
  containsPath,
  type EnvironmentInfo,
  fromPosixPath,
  joinPath,
  type PathUri,
  type Permissions,
  parent,
  type SpecialPath,
} from '@waldo/protocol'
import type { SandboxPlace } from './sandbox-requests.ts'

export interface DenialContext {
  readonly permissions: Permissions
  readonly place: SandboxPlace
  readonly files: FileSystem
  readonly info: Pick<EnvironmentInfo, 'temporaryDirectories'>
  readonly signal: AbortSignal
}

/** What is there is made by the kernel, and much of it leads anywhere. */
const UNREAL = ['/proc', '/sys', '/dev'].map((path) => fromPosixPath(path))

/**
 * The first of these that a profile denies, or that may lead to something it denies. Inside of a sandbox the more
 * specific word wins, so a grant below a denied directory would open that again; and links lead there under other
 * names. So both are compared where they really are. What patterns deny is for the executor, which sees the files.
 */
export async function findDenied(paths: readonly PathUri[], context: DenialContext): Promise<PathUri | undefined> {
  const named = deniedRoots(context)
  if (paths.length === 0 || named.length === 0) return undefined
  const unreal = paths.find((path) => UNREAL.some((root) => containsPath(root, path)))
  if (unreal !== undefined) return unreal
  const real = (path: PathUri) => realPath(path, context)
  const denied = [...named, ...(await Promise.all(named.map(real)))]
  const found = await Promise.all(paths.map(async (path) => [path, await real(path)] as const))
  return found.find((spellings) => spellings.some((path) => denied.some((root) => containsPath(root, path))))?.[0]
}

function deniedRoots({ permissions, place, info }: DenialContext): PathUri[] {
  if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') return []
  const { entries } = permissions.file_system
  return entries.flatMap(({ path, access }) => {
    if (access !== 'deny' || path.type === 'glob_pattern') return []
    return path.type === 'path' ? [path.path] : specialRoots(path.value, place, info)
  })
}

function specialRoots(
  value: SpecialPath,
  { workspaceRoots }: SandboxPlace,
  { temporaryDirectories }: DenialContext['info'],
): readonly PathUri[] {
  switch (value.kind) {
    case 'project_roots':
      return workspaceRoots.map((root) => joinPath(root, value.subpath ?? '.'))
    case 'slash_tmp':
      return [fromPosixPath('/tmp')]
    case 'tmpdir':
      return temporaryDirectories
    // Nobody knows what a newer word means: then nothing may be opened.
    case 'root':
    case 'minimal':
    case 'unknown':
      return [fromPosixPath('/')]
  }
}

/** With all links followed, as far as it exists. */
async function realPath(path: PathUri, { files, signal }: DenialContext): Promise<PathUri> {
  const missing: string[] = []
  for (let existing: PathUri | undefined = path; existing !== undefined; existing = parent(existing)) {
    try {
      const real = await files.canonicalize(existing, { signal })
      return missing.reduceRight<PathUri>((base, name) => joinPath(base, name), real)
    } catch (error) {
      if (!ExecError.is(error, 'FILE_NOT_FOUND')) throw error
      missing.push(`./${baseName(existing) ?? ''}`)
    }
  }
  return path
}
