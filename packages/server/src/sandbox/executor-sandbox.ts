import { ErrorCode, type Params, type ProcessLimits, ProtocolError, type SandboxIntent } from '@waldo/protocol'
import { bindPolicy, type Policy, PolicyError } from '@waldo/sandbox'
import type * as Linux from '@waldo/sandbox/linux'
import type * as ProxyModule from '@waldo/sandbox/proxy'

type RequestedProxy = NonNullable<Params<'process/start'>['networkProxy']>

export interface ExecutorSandboxOptions {
  readonly stateDir: string
  /** Files of the executor's own that nobody in a sandbox has to see. */
  readonly hidden: readonly string[]
  /** What starts this program as the one that makes networks. */
  readonly namespaceMaker: readonly string[]
}

interface Loaded {
  readonly module: typeof Linux
  readonly sandbox: Linux.LinuxSandbox
  readonly namespaces: Linux.NetworkNamespaces
}

/** Ids of processes, as far as they appear in questions to a client. */
const MAX_ASKING_ID_BYTES = 256

/** What this executor has to enforce what clients ask for. Loaded when somebody asks. */
export class ExecutorSandbox {
  readonly #options: ExecutorSandboxOptions
  #loaded: Loaded | undefined
  #means: Linux.LimitMeans | undefined

  constructor(options: ExecutorSandboxOptions) {
    this.#options = options
  }

  get linux(): Linux.LinuxSandbox {
    return this.#load().sandbox
  }

  get namespaces(): Linux.NetworkNamespaces {
    return this.#load().namespaces
  }

  get proxy(): typeof ProxyModule {
    return require('@waldo/sandbox/proxy') as typeof ProxyModule
  }

  /** In terms of this machine. Throws a `PolicyError`. */
  bind(intent: SandboxIntent, cwd: string | undefined): Policy {
    const policy = bindPolicy(intent, this.#load().module.thisHost(), { cwd })
    if (intent.useLegacyLandlock && policy.files) {
      throw new PolicyError(
        'unenforceable',
        'useLegacyLandlock: this executor confines by mounts, not by Landlock alone',
      )
    }
    return policy
  }

  /** Throws a `ProtocolError` for what makes no sense. */
  proxyRules({ proxy, policyDecisionTimeoutMs }: RequestedProxy, processId: string): ProxyModule.ProxyRules {
    const invalid = (message: string) => new ProtocolError(ErrorCode.invalidParams, message)
    if (policyDecisionTimeoutMs === 0) throw invalid('network policy decision callback timeout must be nonzero')
    const idBytes = Buffer.byteLength(processId)
    if (policyDecisionTimeoutMs !== undefined && (idBytes === 0 || idBytes > MAX_ASKING_ID_BYTES)) {
      throw invalid('callback-enabled process ID must be non-empty and at most 256 bytes')
    }
    return this.proxy.proxyRules(proxy)
  }

  /** Throws a `PolicyError` for what cannot be enforced here. */
  prepareLimits(limits: ProcessLimits, options: { sandboxed: boolean }): Linux.PreparedLimits {
    const { module } = this.#load()
    this.#means ??= module.probeLimits()
    try {
      return module.prepareLimits(limits, this.#means, options)
    } catch (error) {
      throw error instanceof module.LimitError
        ? new PolicyError('unenforceable', error.message, { cause: error })
        : error
    }
  }

  close(): void {
    this.#loaded?.sandbox.close()
    this.#loaded?.namespaces.close()
  }

  #load(): Loaded {
    if (process.platform !== 'linux') {
      throw new PolicyError('unenforceable', 'sandbox intent cannot be enforced on this executor')
    }
    if (!this.#loaded) {
      const module = require('@waldo/sandbox/linux') as typeof Linux
      const { stateDir, hidden, namespaceMaker } = this.#options
      const sandbox = new module.LinuxSandbox({ stateDir, hidden: () => hidden })
      this.#loaded = { module, sandbox, namespaces: new module.NetworkNamespaces({ command: namespaceMaker }) }
      sandbox.sweep()
    }
    return this.#loaded
  }
}
