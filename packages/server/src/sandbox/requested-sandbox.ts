import type { Confinement } from '@waldo/local'
import { ErrorCode, type Params, ProtocolError, toPosixPath } from '@waldo/protocol'
import type { Policy } from '@waldo/sandbox'
import type { ClientCalls } from '../client-calls.ts'
import { confineProcess } from './confine-process.ts'
import type { ExecutorSandbox } from './executor-sandbox.ts'
import { policyRefusal } from './policy-refusal.ts'

export type StartParams = Params<'process/start'>

/** What one process is to be kept to. */
export interface RequestedSandbox {
  readonly sandboxType: ExecutorSandbox['sandboxType']
  /** Undefined if there is nothing to keep it from. */
  prepare(): Confinement | undefined | Promise<Confinement | undefined>
}

/** Reads what a client asks for. Throws a `ProtocolError` for what cannot be enforced: running without would be worse. */
export function requestedSandbox(
  machine: { readonly sandbox: ExecutorSandbox },
  params: StartParams,
  client: () => ClientCalls | undefined,
): RequestedSandbox {
  const { sandbox: intent, networkProxy, limits, enforceManagedNetwork } = params
  const { sandbox } = machine
  const proxy = networkProxy && attempt(() => sandbox.proxyRules(networkProxy, params.processId))
  const profile = intent && attempt(() => sandbox.profile(intent, cwdOf(params)))
  const policy = profile?.policy
  if (enforceManagedNetwork) requireProxy(policy, proxy?.enabled ?? false)
  const needed = policy && (policy.files !== undefined || policy.network === 'restricted' || enforceManagedNetwork)
  return {
    sandboxType: needed ? sandbox.sandboxType : 'none',
    prepare: () =>
      attempt(() =>
        confineProcess(sandbox, {
          processId: params.processId,
          profile: needed ? profile : undefined,
          proxy,
          isManaged: enforceManagedNetwork,
          decisionMs: networkProxy?.policyDecisionTimeoutMs,
          limits,
          client,
        }),
      ),
  }
}

/** Nothing keeps a process to a proxy that is not there, and nothing but a sandbox keeps it to one that is. */
function requireProxy(policy: Policy | undefined, hasProxy: boolean): void {
  if (!policy)
    throw invalid('enforceManagedNetwork needs a sandbox: without one nothing keeps the process to the proxy')
  if (!hasProxy) throw invalid('enforceManagedNetwork needs a networkProxy that is enabled')
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
  throw policyRefusal(error, ErrorCode.invalidParams)
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidParams, message)
}
