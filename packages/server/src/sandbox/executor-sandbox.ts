import {
  ErrorCode,
  type Params,
  type ProcessLimits,
  ProtocolError,
  type SandboxInfo,
  type SandboxIntent,
} from '@waldo/protocol'
import { bindPolicy, type Policy, PolicyError } from '@waldo/sandbox'
import type * as Linux from '@waldo/sandbox/linux'
import type * as ProxyModule from '@waldo/sandbox/proxy'
import { type BoundProfile, ProfileCache } from './profile-cache.ts'

type Prepared = Linux.PreparedSandbox
export type ProcessProfile = BoundProfile<Map<Linux.SandboxNetwork, Prepared>>
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
  readonly #profiles = new ProfileCache<Map<Linux.SandboxNetwork, Prepared>>()
  #means: Linux.LimitMeans | undefined
  #info: SandboxInfo | undefined

  constructor(options: ExecutorSandboxOptions) {
    this.#options = options
  }

  /** What can be enforced here. Found out when it is first asked for, which takes some milliseconds. */
  get info(): SandboxInfo {
    this.#info ??= this.#findOut()
    return this.#info
  }

  /** Something could not be set up: what we know may not be true any more. */
  doubt(): void {
    this.#info = undefined
  }

  /** Throws a `PolicyError` if there can be no sandbox. */
  get linux(): Linux.LinuxSandbox {
    const { available, reason, remedy } = this.info
    if (!available) {
      throw new PolicyError('unavailable', `sandbox intent cannot be enforced on this executor: ${reason}. ${remedy}`)
    }
    return this.#load().sandbox
  }

  get namespaces(): Linux.NetworkNamespaces {
    return this.#load().namespaces
  }

  get proxy(): typeof ProxyModule {
    return require('@waldo/sandbox/proxy') as typeof ProxyModule
  }

  /** What a profile means for a command. Throws a `PolicyError`. */
  profile(intent: SandboxIntent, cwd: string | undefined): ProcessProfile {
    const key = JSON.stringify([cwd, intent])
    return this.#profiles.get(key, () => {
      const facts = this.#load().sandbox.lookAround()
      return { policy: this.bind(intent, facts, cwd), facts, made: new Map() }
    })
  }

  /** Ready for commands. At once, unless there is a tree to look through. */
  prepare({ policy, facts, made }: ProcessProfile, network: Linux.SandboxNetwork): Prepared | Promise<Prepared> {
    const known = made.get(network)
    if (known) return known
    const prepared = this.linux.prepare({ policy, facts, network })
    // What patterns match may be something else the next time.
    if (!(prepared instanceof Promise)) made.set(network, prepared)
    return prepared
  }

  /** In terms of this machine. Throws a `PolicyError`. */
  bind(intent: SandboxIntent, facts: Linux.ThisHost, cwd: string | undefined): Policy {
    const policy = bindPolicy(intent, facts, { cwd })
    if (intent.useLegacyLandlock && policy.files) {
      throw new PolicyError(
        'unenforceable',
        'useLegacyLandlock: this executor confines by mounts, not by Landlock alone',
      )
    }
    return policy
  }

  /** The machine as it is, for those who work on files. */
  lookAround(): Linux.ThisHost {
    return new (this.#load().module.ThisHost)()
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
    try {
      return module.prepareLimits(limits, this.#limitMeans(), options)
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

  #findOut(): SandboxInfo {
    if (process.platform !== 'linux') {
      const reason = `no sandbox has been built for ${process.platform}`
      return { available: false, reason, remedy: 'run the executor on Linux' }
    }
    const { module, sandbox } = this.#load()
    const means = Object.entries(this.#limitMeans().of).flatMap(([kind, { by }]) => (by === 'none' ? [] : [[kind, by]]))
    return { ...module.probeSandbox(sandbox), limits: Object.fromEntries(means) }
  }

  #limitMeans(): Linux.LimitMeans {
    this.#means ??= this.#load().module.probeLimits()
    return this.#means
  }

  #load(): Loaded {
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
