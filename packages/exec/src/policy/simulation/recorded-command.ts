import type { SandboxPermissions } from '../../permissions/sandbox-permissions.ts'

/** A command as somebody ran it. */
export interface RecordedCommand {
  readonly argv: readonly string[]
  readonly sandboxPermissions: SandboxPermissions
}

const PERMISSIONS: readonly SandboxPermissions[] = ['use_default', 'require_escalated', 'with_additional_permissions']

/**
 * Reads `{argv | cmd, sandbox_permissions?}`; what else is there does not matter, the directory neither: no rule goes by
 * it. Throws with what is wrong.
 */
export function recordedCommand(text: string, shell: string): RecordedCommand {
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null) throw new Error('it is not an object')
  const { argv, cmd, sandbox_permissions } = record as Readonly<Record<string, unknown>>
  const sandboxPermissions = PERMISSIONS.find((each) => each === (sandbox_permissions ?? 'use_default'))
  if (sandboxPermissions === undefined) throw new Error('`sandbox_permissions` is not known')
  return { argv: argvOf(argv, cmd, shell), sandboxPermissions }
}

function argvOf(argv: unknown, cmd: unknown, shell: string): readonly string[] {
  if (typeof cmd === 'string' && argv === undefined) return [shell, '-lc', cmd]
  if (cmd === undefined && Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string')) {
    return argv
  }
  throw new Error('it needs either `argv`, a list of strings, or `cmd`, a string')
}
