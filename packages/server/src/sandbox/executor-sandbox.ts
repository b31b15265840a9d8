import {
  ErrorCode,
  type Params,
  type ProcessLimits,
  ProtocolError,
  type SandboxInfo,
  type SandboxIntent,
} from '@waldo/protocol'
import { bindPolicy, type Policy, PolicyError } from '@waldo/sandbox'
import type { PreparedLimits, SandboxNetwork, ThisHost } from '@waldo/sandbox/linux'
import type { PlatformPrepared } from '@waldo/sandbox/macos'
import type * as ProxyModule from '@waldo/sandbox/proxy'
import { LinuxMeans } from './linux-means.ts'
import { MacMeans } from './mac-means.ts'
import { NoMeans } from './no-means.ts'
import { type BoundProfile, ProfileCache } from './profile-cache.ts'
import type { HelperRequest, HelperSandbox, MeansOptions, SandboxMeans } from './sandbox-means.ts'

export type ProcessProfile = BoundProfile<Map<SandboxNetwork, PlatformPrepared>>
type RequestedProxy = NonNullable<Params<'process/start'>['networkProxy']>

export interface ExecutorSandboxOptions extends MeansOptions {
  /** Default: this one. */
  readonly platform?: NodeJS.Platform
}

/** Ids of processes, as far as they appear in questions to a client. */
const MAX_ASKING_ID_BYTES = 256

/** What this executor has to enforce what clients ask for. Loaded when somebody asks. */
export class ExecutorSandbox {
  readonly #options: ExecutorSandboxOptions
  readonly #platform: NodeJS.Platform
  readonly #profiles = new ProfileCache<Map<SandboxNetwork, PlatformPrepared>>()
  #means: SandboxMeans | undefined
  #info: SandboxInfo | undefined

  constructor(options: ExecutorSandboxOptions) {
    this.#options = options
    this.#platform = options.platform ?? process.platform
  }

  /** What can be enforced here. Found out when it is first asked for, which takes some milliseconds. */
  get info(): SandboxInfo {
    this.#info ??= this.#load().probe()
    return this.#info
  }

  /** Something could not be set up: what we know may not be true any more. */
  doubt(): void {
    this.#info = undefined
  }

  /** What it is called on the wire. */
  get sandboxType(): SandboxMeans['sandboxType'] {
    return this.#load().sandboxType
  }

  get markers(): SandboxMeans['markers'] {
    return this.#load().markers
  }

  get namespaces(): SandboxMeans['namespaces'] {
    return this.#load().namespaces
  }

  get proxy(): typeof ProxyModule {
    return require('@waldo/sandbox/proxy') as typeof ProxyModule
  }

  /** What a profile means for a command. Throws a `PolicyError`. */
  profile(intent: SandboxIntent, cwd: string | undefined): ProcessProfile {
    const key = JSON.stringify([cwd, intent])
    return this.#profiles.get(key, () => {
      const facts = this.#load().lookAround()
      return { policy: this.bind(intent, facts, cwd), facts, made: new Map() }
    })
  }

  /** Ready for commands. At once, unless there is a tree to look through. */
  prepare(
    { policy, facts, made }: ProcessProfile,
    network: SandboxNetwork,
  ): PlatformPrepared | Promise<PlatformPrepared> {
    const known = made.get(network)
    if (known) return known
    const prepared = this.#requireMeans().prepare({ policy, facts, network })
    // What patterns match may be something else the next time.
    if (!(prepared instanceof Promise)) made.set(network, prepared)
    return prepared
  }

  /** For a program of ours. Throws a `PolicyError` if the rules cannot be enforced. */
  prepareHelper(options: HelperRequest): HelperSandbox {
    return this.#requireMeans().prepareHelper(options)
  }

  /** In terms of this machine. Throws a `PolicyError`. */
  bind(intent: SandboxIntent, facts: ThisHost, cwd: string | undefined): Policy {
    const policy = bindPolicy(intent, facts, { cwd })
    // On a Mac there is nothing that it could stand for.
    if (intent.useLegacyLandlock && policy.files && this.#platform !== 'darwin') {
      throw new PolicyError(
        'unenforceable',
        'useLegacyLandlock: this executor confines by mounts, not by Landlock alone',
      )
    }
    return policy
  }

  /** The machine as it is, for those who work on files. */
  lookAround(): ThisHost {
    return this.#load().lookAtFiles()
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
  prepareLimits(limits: ProcessLimits, options: { sandboxed: boolean }): PreparedLimits {
    return this.#load().prepareLimits(limits, options)
  }

  close(): void {
    this.#means?.close()
  }

  /** Throws a `PolicyError` if there can be no sandbox. */
  #requireMeans(): SandboxMeans {
    const { available, reason, remedy } = this.info
    if (!available) {
      throw new PolicyError('unavailable', `sandbox intent cannot be enforced on this executor: ${reason}. ${remedy}`)
    }
    return this.#load()
  }

  #load(): SandboxMeans {
    this.#means ??= meansOf(this.#platform, this.#options)
    return this.#means
  }
}

function meansOf(platform: NodeJS.Platform, options: MeansOptions): SandboxMeans {
  switch (platform) {
    case 'linux':
      return new LinuxMeans(options)
    case 'darwin':
      return new MacMeans(options)
    default:
      return new NoMeans(platform)
  }
}
