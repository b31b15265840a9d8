import {
  array,
  boolean,
  type Decoded,
  DecodeError,
  object,
  oneOf,
  optional,
  plainObject,
  type Schema,
  string,
  unsigned,
  withDefault,
} from './decode.ts'
import { type PathUri, pathUri } from './path-uri.ts'

/** What a path may be used for. `write` includes reading. */
export type Access = 'read' | 'write' | 'deny'
export type NetworkPermission = 'restricted' | 'enabled'

/** Paths that mean something else on each machine: the executor knows what. */
export type SpecialPath =
  | { kind: 'root' | 'minimal' | 'tmpdir' | 'slash_tmp' }
  | { kind: 'project_roots'; subpath?: string }
  /** A word of a newer peer. It grants nothing. */
  | { kind: 'unknown'; path: string }

type PermissionPath =
  | { type: 'path'; path: PathUri }
  | { type: 'glob_pattern'; pattern: string }
  | { type: 'special'; value: SpecialPath }

export interface PermissionEntry {
  path: PermissionPath
  access: Access
  /** `skip`: an entry for a path that does not exist says nothing. */
  missing_path_behavior?: 'skip'
}

type FileSystemPermissions =
  | { type: 'unrestricted' }
  | { type: 'restricted'; entries: readonly PermissionEntry[]; glob_scan_max_depth?: number }

export type Permissions =
  | { type: 'managed'; file_system: FileSystemPermissions; network: NetworkPermission }
  /** No sandbox. */
  | { type: 'disabled' }
  /** Somebody else isolates the files. */
  | { type: 'external'; network: NetworkPermission }

const network = oneOf('restricted', 'enabled')

const accessWord = oneOf('read', 'write', 'deny', 'none')

const access: Schema<Access> = (value) => {
  const given = accessWord(value)
  return given === 'none' ? 'deny' : given
}

const special = object({
  kind: oneOf('root', 'minimal', 'current_working_directory', 'project_roots', 'tmpdir', 'slash_tmp', 'unknown'),
})
const unknownPath = object({ path: string })
const maybeSubpath = object({ subpath: optional(string) })

const specialPath: Schema<SpecialPath> = (value) => {
  const { kind } = special(value)
  if (kind === 'unknown') return { kind, path: unknownPath(value).path }
  const { subpath } = maybeSubpath(value)
  if (kind !== 'project_roots' && kind !== 'current_working_directory') {
    // To leave it out would mean more than was asked for.
    if (subpath !== undefined) throw new DecodeError(`\`${kind}\` has no subpath; name the path itself`)
    return { kind }
  }
  return subpath === undefined ? { kind: 'project_roots' } : { kind: 'project_roots', subpath }
}

const pathType = object({ type: oneOf('path', 'glob_pattern', 'special') })
const namedPath = object({ path: pathUri })
const pathPattern = object({ pattern: string })
const specialValue = object({ value: specialPath })

const permissionPath: Schema<PermissionPath> = (value) => {
  const { type } = pathType(value)
  switch (type) {
    case 'path':
      return { type, path: namedPath(value).path }
    case 'glob_pattern':
      return { type, pattern: pathPattern(value).pattern }
    case 'special':
      return { type, value: specialValue(value).value }
  }
}

const anyEntry = object({ path: permissionPath, access, missing_path_behavior: optional(oneOf('skip')) })

const permissionEntry: Schema<PermissionEntry> = (value) => {
  const { missing_path_behavior, ...entry } = anyEntry(value)
  if (entry.path.type === 'glob_pattern' && entry.access !== 'deny') {
    throw new DecodeError(`a glob pattern can only deny access, got \`${entry.access}\``)
  }
  return missing_path_behavior === undefined ? entry : { ...entry, missing_path_behavior }
}

const entryList = object({ entries: array(permissionEntry), glob_scan_max_depth: optional(unsigned(2 ** 32)) })

const restricted: Schema<FileSystemPermissions> = (value) => {
  const { entries, glob_scan_max_depth } = entryList(value)
  if (glob_scan_max_depth === 0) throw new DecodeError('glob_scan_max_depth: expected a number above 0, got 0')
  return { type: 'restricted', entries, ...(glob_scan_max_depth !== undefined && { glob_scan_max_depth }) }
}

const fileSystemType = object({ type: oneOf('restricted', 'unrestricted') })

const fileSystemPermissions: Schema<FileSystemPermissions> = (value) => {
  const { type } = fileSystemType(value)
  return type === 'unrestricted' ? { type } : restricted(value)
}

const legacyMembers = object({
  network: optional(object({ enabled: optional(boolean) })),
  file_system: optional(restricted),
})

/** Before profiles had a type, they were `{network?: {enabled?}, file_system?: {entries}}` and nothing else. */
const legacyPermissions: Schema<Permissions> = (value) => {
  const stranger = Object.keys(plainObject(value)).find((name) => name !== 'network' && name !== 'file_system')
  if (stranger !== undefined) throw new DecodeError('missing field `type`')
  const legacy = legacyMembers(value)
  return {
    type: 'managed',
    file_system: legacy.file_system ?? { type: 'restricted', entries: [] },
    network: legacy.network?.enabled ? 'enabled' : 'restricted',
  }
}

const permissionsType = object({ type: oneOf('managed', 'disabled', 'external') })
const externalMembers = object({ network })
const managedMembers = object({ file_system: fileSystemPermissions, network })

const permissions: Schema<Permissions> = (value) => {
  const given = plainObject(value)
  if (!('type' in given) && ('network' in given || 'file_system' in given)) return legacyPermissions(given)
  const { type } = permissionsType(given)
  if (type === 'disabled') return { type }
  if (type === 'external') return { type, network: externalMembers(given).network }
  return { type, ...managedMembers(given) }
}

/** What whoever asks wants to be possible, and nothing more. The executor decides how to see to that. */
const sandboxIntent = object({
  permissions,
  windowsSandboxLevel: oneOf('disabled', 'restricted-token', 'elevated', 'mxc'),
  cwd: optional(pathUri),
  workspaceRoots: withDefault(array(pathUri), []),
  useLegacyLandlock: withDefault(boolean, false),
  sandboxOverride: optional(oneOf('noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt')),
  /** What `tmpdir` stands for; absent: the executor's own. */
  temporaryDirectories: optional(array(pathUri)),
  policyContext: optional(object({ cwd: optional(pathUri), workspaceRoots: withDefault(array(pathUri), []) })),
})
export type SandboxIntent = Decoded<typeof sandboxIntent>
/** The same as a client writes it: what is not said has its default. */
export type SandboxRequest = Pick<SandboxIntent, 'permissions' | 'windowsSandboxLevel'> & Partial<SandboxIntent>

/** Absent, or `null`: no sandbox is asked for. */
export const optionalSandbox: Schema<SandboxIntent | undefined> = optional(sandboxIntent)
