import { type Environment, type StartOptions, sandboxProfiles } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { UsageError } from '../usage-error.ts'

interface SandboxFlags {
  readonly sandbox?: string
  readonly network?: boolean
  readonly allow?: string[]
}

const HELP = 'waldo run --help lists the options'

export type SandboxOptions = Pick<StartOptions, 'sandbox' | 'network'>

/** Undefined if none is asked for. What it returns needs to know where the command will start. */
export function requestedSandbox(
  flags: SandboxFlags,
): ((environment: Environment, cwd: PathUri | undefined) => Promise<SandboxOptions>) | undefined {
  const { sandbox: mode, network = false, allow = [] } = flags
  if (mode === undefined) {
    // Somebody means to restrict something, and would not.
    if (network || allow.length > 0) throw new UsageError('--network and --allow need --sandbox', HELP)
    return undefined
  }
  if (mode !== 'read-only' && mode !== 'workspace') {
    throw new UsageError(`--sandbox ${mode}: expected read-only or workspace`, HELP)
  }
  if (network && allow.length > 0) throw new UsageError('--network and --allow exclude each other', HELP)
  const permission = network ? 'enabled' : 'restricted'
  const managed = allow.length > 0 && {
    network: { domains: Object.fromEntries(allow.map((domain) => [domain, 'allow'] as const)) },
  }
  return async (environment, cwd) => {
    if (mode === 'read-only') return { sandbox: sandboxProfiles.readOnly({ network: permission }), ...managed }
    const root = cwd ?? (await environment.info()).cwd
    if (!root) throw new UsageError('the executor does not say where commands start', 'Say it with --cwd')
    return { sandbox: sandboxProfiles.workspaceWrite({ roots: [root], network: permission }), ...managed }
  }
}
