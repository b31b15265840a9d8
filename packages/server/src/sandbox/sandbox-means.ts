import type { ProcessLimits, SandboxInfo } from '@waldo/protocol'
import type { FileRules } from '@waldo/sandbox'
import type { NetworkNamespaces, NetworkNamespacesOptions, PreparedLimits, ThisHost } from '@waldo/sandbox/linux'
import type { PlatformPrepared, PlatformSandbox } from '@waldo/sandbox/macos'

export interface MeansOptions {
  readonly stateDir: string
  /** Files of the executor's own that nobody in a sandbox has to see. */
  readonly hidden: readonly string[]
  /** What starts this program as the one that makes networks. */
  readonly namespaceMaker: readonly string[]
  /** Whoever looks after the children of this process. */
  readonly guard?: NetworkNamespacesOptions['guard']
}

/** What one system has to enforce what clients ask for. */
export interface SandboxMeans extends PlatformSandbox {
  /** What a client is told. */
  readonly sandboxType: 'none' | 'linuxSeccomp' | 'macosSeatbelt'
  /** Variables by which programs, and those who wonder about them, can know. */
  readonly markers: Readonly<Record<string, string>>
  /** Throws a `PolicyError` where there are none. */
  readonly namespaces: Pick<NetworkNamespaces, 'create'>
  /** Makes a sandbox: nothing else says whether there can be one here. */
  probe(): SandboxInfo
  /** The machine as it is, for those who work on files. */
  lookAtFiles(): ThisHost
  /** For a program of ours. Throws a `PolicyError` if the rules cannot be enforced. */
  prepareHelper(options: HelperRequest): HelperSandbox
  /** Throws a `PolicyError` for what cannot be enforced here. */
  prepareLimits(limits: ProcessLimits, options: { sandboxed: boolean }): PreparedLimits
}

/** What a helper consists of. */
export interface OwnFiles {
  readonly program: string
  /** Undefined if the program is all of it. */
  readonly sources: string | undefined
}

export interface HelperRequest {
  /** What it was asked to keep to. */
  readonly rules: FileRules
  /** What it has to be able to read besides, to run at all, included. */
  readonly files: FileRules
  readonly facts: ThisHost
  readonly own: OwnFiles
}

export interface HelperSandbox {
  readonly prepared: PlatformPrepared
  /** Where it finds itself inside. */
  readonly own: OwnFiles
  readonly env: Readonly<Record<string, string>>
}
