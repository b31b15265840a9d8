import { ExecError } from '@waldo/environment'
import type { ConfinedCommand, ConfinedLaunch, Confinement, Ending } from '@waldo/local'
import { ErrorCode, type Params, type ProcessExit, ProtocolError, toPosixPath } from '@waldo/protocol'
import { type Policy, PolicyError } from '@waldo/sandbox'
import type { PreparedSandbox } from '@waldo/sandbox/linux'
import type { ExecutorSandbox } from './executor-sandbox.ts'

export type StartParams = Params<'process/start'>

/** What one process is to be kept to. */
export interface RequestedSandbox {
  readonly sandboxType: 'none' | 'linuxSeccomp'
  /** Undefined if there is nothing to keep it from. */
  prepare(): Confinement | undefined | Promise<Confinement | undefined>
}

const NONE: RequestedSandbox = { sandboxType: 'none', prepare: () => undefined }

/** Reads what a client asks for. Throws a `ProtocolError` for what cannot be enforced: running without it would be worse. */
export function requestedSandbox(
  machine: { readonly sandbox: ExecutorSandbox },
  params: StartParams,
): RequestedSandbox {
  if (params.networkProxy) throw invalid('this executor cannot start network proxies')
  if (params.limits) throw invalid('this executor cannot enforce limits')
  if (!params.sandbox && !params.enforceManagedNetwork) return NONE
  const { sandbox } = machine
  const policy = attempt(() => params.sandbox && sandbox.bind(params.sandbox, cwdOf(params)))
  if (params.enforceManagedNetwork) throw invalid('a managed network cannot be enforced on this executor')
  if (!policy || !isNeeded(policy)) return NONE
  return { sandboxType: 'linuxSeccomp', prepare: () => attempt(() => prepare(sandbox, policy)) }
}

function isNeeded({ files, network }: Policy): boolean {
  return files !== undefined || network === 'restricted'
}

function prepare(sandbox: ExecutorSandbox, policy: Policy): Confinement | Promise<Confinement> {
  const prepared = sandbox.linux.prepare({ policy, network: policy.network })
  const confine = (ready: PreparedSandbox) => new SandboxedProcess(ready, policy)
  return prepared instanceof Promise ? prepared.then(confine) : confine(prepared)
}

class SandboxedProcess implements Confinement {
  readonly #prepared: PreparedSandbox
  readonly #policy: Policy

  constructor(prepared: PreparedSandbox, policy: Policy) {
    this.#prepared = prepared
    this.#policy = policy
  }

  launch(command: ConfinedCommand, { terminal }: { terminal: boolean }): ConfinedLaunch {
    const env = { ...command.env, ...this.#markers() }
    try {
      return this.#prepared.launch({ ...command, env }, { terminal })
    } catch (cause) {
      throw new ExecError('SPAWN_FAILED', `the sandbox could not be set up: ${(cause as Error).message}`, { cause })
    }
  }

  judge(ending: Ending, _lastOutput: string): Partial<ProcessExit> {
    return { ...(ending.unconfined && { sandboxFailed: true }), sandboxDenied: ending.unconfined === true }
  }

  started(): void {}

  abandon(): void {}

  /** So that programs, and those who wonder about them, can know. */
  #markers(): Record<string, string> {
    return {
      WALDO_SANDBOX: 'bubblewrap',
      ...(this.#policy.network === 'restricted' && { CODEX_SANDBOX_NETWORK_DISABLED: '1' }),
    }
  }
}

function cwdOf({ cwd }: StartParams): string | undefined {
  const path = toPosixPath(cwd)
  return typeof path === 'string' ? path : undefined
}

function attempt<T>(act: () => T): T {
  try {
    const result = act()
    return result instanceof Promise ? (result.catch((error) => fail(error)) as T) : result
  } catch (error) {
    return fail(error)
  }
}

function fail(error: unknown): never {
  throw error instanceof PolicyError ? invalid(error.message, error) : error
}

function invalid(message: string, cause?: unknown): ProtocolError {
  return new ProtocolError(ErrorCode.invalidParams, message, { cause })
}
