import {
  containsPath,
  type EnvironmentInfo,
  fromPosixPath,
  joinPath,
  type PathUri,
  type PermissionEntry,
  type Permissions,
} from '@waldo/protocol'
import type { SandboxPlace } from './sandbox-requests.ts'

/**
 * Whether a profile lets this be written, as far as names tell. It decides whether somebody is asked; what is really
 * written is for the executor to enforce, which sees the files.
 */
export function isWritable(
  path: PathUri,
  permissions: Permissions,
  place: SandboxPlace & Pick<EnvironmentInfo, 'temporaryDirectories'>,
): boolean {
  if (permissions.type !== 'managed' || permissions.file_system.type === 'unrestricted') return true
  let closest: { readonly length: number; readonly access: PermissionEntry['access'] } | undefined
  for (const { path: named, access } of permissions.file_system.entries) {
    for (const outer of meant(named, place)) {
      if (!containsPath(outer, path)) continue
      // The most specific one decides; of two that are as specific, the one that allows less.
      const isCloser = !closest || outer.length > closest.length
      const isStricter = closest && outer.length === closest.length && RANK[access] > RANK[closest.access]
      if (isCloser || isStricter) closest = { length: outer.length, access }
    }
  }
  return closest?.access === 'write'
}

const RANK = { write: 0, read: 1, deny: 2 } as const

function meant(
  named: PermissionEntry['path'],
  { workspaceRoots, temporaryDirectories }: SandboxPlace & Pick<EnvironmentInfo, 'temporaryDirectories'>,
): readonly PathUri[] {
  if (named.type === 'path') return [named.path]
  // Patterns only deny, and only the executor knows what.
  if (named.type === 'glob_pattern') return []
  const { value } = named
  switch (value.kind) {
    case 'root':
      return [fromPosixPath('/')]
    case 'project_roots':
      return workspaceRoots.map((root) => (value.subpath === undefined ? root : joinPath(root, value.subpath)))
    case 'slash_tmp':
      return [fromPosixPath('/tmp')]
    case 'tmpdir':
      return temporaryDirectories
    case 'minimal':
    case 'unknown':
      return []
  }
}
