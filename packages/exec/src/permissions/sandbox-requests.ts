import { sandboxProfiles } from '@waldo/environment'
import {
  containsPath,
  joinPath,
  type PathUri,
  type PermissionEntry,
  type Permissions,
  type SandboxRequest,
} from '@waldo/protocol'
import type { AdditionalPermissions } from './additional-permissions.ts'

/** What commands may do if nobody is asked: by the name of what most use, or in every detail. */
export type PermissionProfile = 'read-only' | 'workspace' | 'full-access' | Permissions

/** Where a sandbox is. The directory that a model chooses for a command is not among it: it would choose what it may do. */
export interface SandboxPlace {
  readonly cwd: PathUri
  readonly workspaceRoots: readonly PathUri[]
}

export function permissionsOf(profile: PermissionProfile): Permissions {
  if (typeof profile !== 'string') return profile
  switch (profile) {
    case 'read-only':
      return sandboxProfiles.readOnly().permissions
    case 'workspace':
      // What is written there is meant symbolically: the roots are told with each command.
      return sandboxProfiles.workspaceWrite({ roots: ['/'] }).permissions
    case 'full-access':
      return { type: 'disabled' }
  }
}

export function sandboxRequest(permissions: Permissions, { cwd, workspaceRoots }: SandboxPlace): SandboxRequest {
  const roots = [...workspaceRoots]
  return { permissions, windowsSandboxLevel: 'disabled', cwd, workspaceRoots: roots, sandboxOverride: 'noOverride' }
}

/** Whether a command has to be confined at all. */
export function needsSandbox(permissions: Permissions, hasManagedNetwork: boolean): boolean {
  if (permissions.type === 'disabled') return false
  if (hasManagedNetwork) return true
  if (permissions.type === 'external') return false
  return permissions.network === 'restricted' || isRestricted(permissions)
}

/** Whether some files are out of reach: what an unrestricted profile does not say, it allows. */
function isRestricted(permissions: Permissions): boolean {
  return permissions.type === 'managed' && permissions.file_system.type === 'restricted'
}

/** What must not even be read. It exists only inside of a sandbox, so nobody can allow to leave that one altogether. */
function denialsOf(permissions: Permissions): readonly PermissionEntry[] {
  if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') return []
  return permissions.file_system.entries.filter(({ access }) => access === 'deny')
}

/** For people: which paths stay closed. */
export function deniedPaths(permissions: Permissions): readonly string[] {
  return denialsOf(permissions).map(({ path }) => {
    if (path.type === 'path') return path.path
    if (path.type === 'glob_pattern') return path.pattern
    return path.value.kind === 'project_roots' ? `<workspace>/${path.value.subpath ?? ''}` : `<${path.value.kind}>`
  })
}

/** Whether a path is one of those. Patterns are for the executor, which sees the files. */
export function isDenied(path: PathUri, permissions: Permissions, { workspaceRoots }: SandboxPlace): boolean {
  return denialsOf(permissions).some(({ path: denied }) => {
    if (denied.type === 'path') return containsPath(denied.path, path)
    if (denied.type !== 'special' || denied.value.kind !== 'project_roots') return false
    const { subpath = '' } = denied.value
    return workspaceRoots.some((root) => containsPath(joinPath(root, subpath), path))
  })
}

/** The same profile with more in it. */
export function widened(permissions: Permissions, { network, read, write }: AdditionalPermissions): Permissions {
  if (permissions.type === 'disabled') return permissions
  const reach = network ? ('enabled' as const) : permissions.network
  if (permissions.type === 'external' || permissions.file_system.type === 'unrestricted') {
    return { ...permissions, network: reach }
  }
  const entry = (access: 'read' | 'write') => (path: PathUri) => ({ path: { type: 'path' as const, path }, access })
  const entries = [...permissions.file_system.entries, ...read.map(entry('read')), ...write.map(entry('write'))]
  return { ...permissions, network: reach, file_system: { ...permissions.file_system, entries } }
}

/** Everything but what must not be read: as far as an approval can lead where something is denied. */
export function allButDenials(permissions: Permissions): Permissions {
  const everything: PermissionEntry = { path: { type: 'special', value: { kind: 'root' } }, access: 'write' }
  return {
    type: 'managed',
    network: 'enabled',
    file_system: { type: 'restricted', entries: [everything, ...denialsOf(permissions)] },
  }
}
