import type { NetworkPermission, PermissionEntry, SandboxRequest, SpecialPath } from '@waldo/protocol'
import { ExecError } from './errors.ts'
import type { EnvironmentPath } from './file-system.ts'
import { pathFromText } from './selection/path-from-text.ts'

/** Whoever can write here decides what tools do later, outside of any sandbox. */
const PROTECTED_NAMES = ['.git', '.agents', '.codex', '.aws', '.waldo']

export interface ReadOnlyOptions {
  /** `restricted` if nothing is said. A managed network is a matter of `network` at the start of a process. */
  readonly network?: NetworkPermission | undefined
}

export interface WorkspaceWriteOptions extends ReadOnlyOptions {
  /** Where it may write, the directory to work in first. */
  readonly roots: readonly EnvironmentPath[]
  /** Whether it may write in the executor's directories for temporary files, too. It may if nothing is said. */
  readonly tmp?: boolean | undefined
}

/** What most commands are run with. They are plain data: change what does not fit. */
export const sandboxProfiles = { readOnly, workspaceWrite }

/** Everything can be read, nothing written. */
function readOnly({ network }: ReadOnlyOptions = {}): SandboxRequest {
  return managed([entry({ kind: 'root' }, 'read')], network)
}

/** Everything can be read, and written in some places; but not what tools keep there about the project. */
function workspaceWrite({ roots, network, tmp = true }: WorkspaceWriteOptions): SandboxRequest {
  const workspaceRoots = roots.map((root) => pathFromText(String(root)))
  const [cwd] = workspaceRoots
  if (cwd === undefined) {
    throw new ExecError('SANDBOX_INVALID', 'name at least one root to write in; the profile without any is readOnly')
  }
  const entries = [
    entry({ kind: 'root' }, 'read'),
    entry({ kind: 'project_roots' }, 'write'),
    ...(tmp ? [entry({ kind: 'slash_tmp' }, 'write'), entry({ kind: 'tmpdir' }, 'write')] : []),
    ...PROTECTED_NAMES.map((subpath): PermissionEntry => {
      return { ...entry({ kind: 'project_roots', subpath }, 'read'), missing_path_behavior: 'skip' }
    }),
  ]
  return { ...managed(entries, network), cwd, workspaceRoots }
}

function managed(entries: readonly PermissionEntry[], network: NetworkPermission = 'restricted'): SandboxRequest {
  return {
    permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network },
    windowsSandboxLevel: 'disabled',
    useLegacyLandlock: false,
  }
}

function entry(value: SpecialPath, access: 'read' | 'write'): PermissionEntry {
  return { path: { type: 'special', value }, access }
}
