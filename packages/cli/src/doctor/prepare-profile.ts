import { fromPosixPath, type PermissionEntry } from '@waldo/protocol'
import { bindPolicy } from '@waldo/sandbox'
import type { LinuxSandbox, PreparedSandbox, SandboxNetwork } from '@waldo/sandbox/linux'

interface ProfileOptions {
  readonly network: Exclude<SandboxNetwork, 'enabled'>
  /** Where a command may write; undefined: nowhere. */
  readonly workspace?: string
  /** What it may not even read. */
  readonly denied?: string
}

/** The way from what a client asks for to what is started, as the executor goes it. Throws a `PolicyError`. */
export async function prepareProfile(sandbox: LinuxSandbox, options: ProfileOptions): Promise<PreparedSandbox> {
  const { network, workspace, denied } = options
  const entries: PermissionEntry[] = [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }]
  if (workspace !== undefined) {
    entries.push({ path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' })
  }
  if (denied !== undefined) {
    entries.push({ path: { type: 'path', path: fromPosixPath(denied) }, access: 'deny' })
  }
  const facts = sandbox.lookAround()
  const policy = bindPolicy(
    {
      permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
      windowsSandboxLevel: 'disabled',
      workspaceRoots: workspace === undefined ? [] : [fromPosixPath(workspace)],
      useLegacyLandlock: false,
      cwd: undefined,
      sandboxOverride: undefined,
      temporaryDirectories: undefined,
      policyContext: undefined,
    },
    facts,
    { cwd: workspace ?? '/' },
  )
  return await sandbox.prepare({ policy, facts, network })
}
