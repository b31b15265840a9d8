import { ExecError } from '@waldo/environment'
import { type NetworkPolicyResult, networkPolicyResult } from '@waldo/protocol'
import type { NetworkNamespace } from '@waldo/sandbox/linux'
import type { Decider, NetworkProxy, ProxyRules } from '@waldo/sandbox/proxy'
import type { ClientCalls } from '../client-calls.ts'
import type { ExecutorSandbox } from './executor-sandbox.ts'

/** What an answer may take on its way, beyond what the client takes to find it. */
const TRAVEL_MS = 5000

export interface ManagedNetworkOptions {
  readonly processId: string
  readonly rules: ProxyRules
  /** Whether the process is to have nothing but the proxy. */
  readonly isManaged: boolean
  /** How long the client takes to decide; undefined: it does not want to be asked. */
  readonly decisionMs: number | undefined
  readonly client: () => ClientCalls | undefined
}

/** The proxy of one process, and the network in which the process finds it. */
export class ManagedNetwork {
  readonly #proxy: NetworkProxy
  /** Undefined: the process has our own network, and the proxy is an offer. */
  readonly #namespace: NetworkNamespace | undefined
  readonly env: Readonly<Record<string, string>>

  private constructor(proxy: NetworkProxy, namespace: NetworkNamespace | undefined, env: Record<string, string>) {
    this.#proxy = proxy
    this.#namespace = namespace
    this.env = env
  }

  /** Throws an `ExecError` if it cannot be had. */
  static async open(sandbox: ExecutorSandbox, options: ManagedNetworkOptions): Promise<ManagedNetwork> {
    const { processId, rules, isManaged, client } = options
    const { openProxy, proxyEnvironment } = sandbox.proxy
    let namespace: NetworkNamespace | undefined
    try {
      namespace = isManaged ? await sandbox.namespaces.create() : undefined
      const proxy = await openProxy({
        listener: namespace ? { fd: namespace.takeListener() } : { host: '127.0.0.1', port: 0 },
        rules,
        decide: options.decisionMs === undefined ? undefined : decider(options, options.decisionMs),
        onDecision: (decision) => client()?.mention('network/policyDecision', { processId, ...decision }),
      })
      const { socks, localAllowed } = rules
      const port = namespace?.port ?? proxy.port
      const env = proxyEnvironment({ port, socks, localAllowed, ownLoopback: namespace !== undefined })
      return new ManagedNetwork(proxy, namespace, env)
    } catch (cause) {
      namespace?.release()
      throw new ExecError('SPAWN_FAILED', `the network proxy could not be started: ${(cause as Error).message}`, {
        cause,
      })
    }
  }

  /** Goes before the command line of whoever is to live in it. */
  get enter(): readonly string[] {
    return this.#namespace?.enter ?? []
  }

  get blocked(): ReturnType<NetworkProxy['blocked']> {
    return this.#proxy.blocked()
  }

  async close(): Promise<void> {
    this.#namespace?.release()
    await this.#proxy.close()
  }
}

/** No answer is a denial. */
function decider({ processId, client }: ManagedNetworkOptions, decisionMs: number): Decider {
  return async (request, gone) => {
    const asked = client()
    if (!asked) throw new Error('nobody is connected')
    const signal = AbortSignal.any([gone, AbortSignal.timeout(decisionMs + TRAVEL_MS)])
    const answer = await asked.ask('network/policyRequest', { processId, request }, signal)
    const { decision } = networkPolicyResult(answer) as NetworkPolicyResult
    return decision.type === 'allow' ? { type: 'allow' } : { type: decision.type, reason: decision.reason }
  }
}
