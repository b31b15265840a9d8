import type { SandboxInfo } from '@waldo/protocol'
import type { LimitMeans } from '@waldo/sandbox/linux'

/** What was found out about this machine. */
export interface Report {
  readonly machine: Machine
  readonly stateDirectory: StateDirectory
  readonly sandbox: SandboxInfo
  /** Absent where no limit has been built. */
  readonly limits?: Readonly<Record<LimitKind, LimitFinding>>
  /** These two are absent without a sandbox to try them in. */
  readonly jobControl?: Finding
  readonly managedNetwork?: Finding
}

export interface Machine {
  readonly version: string
  readonly platform: string
  readonly arch: string
  readonly kernel: string
  readonly user: { readonly uid: number; readonly name: string | null }
  /** Where it is; null: there is none. */
  readonly ripgrep: string | null
}

export interface StateDirectory {
  readonly path: string
  readonly isWritable: boolean
  /** Nobody else can look into it. */
  readonly isPrivate: boolean
  readonly reason?: string
  readonly remedy?: string
}

export type LimitKind = keyof LimitMeans['of']

export interface LimitFinding {
  readonly by: LimitMeans['of'][LimitKind]['by']
  /** Why it is enforced by nothing. */
  readonly reason?: string
}

/** What came of something that was tried. */
export type Finding =
  | { readonly works: true; readonly ms: number }
  | { readonly works: false; readonly reason: string; readonly remedy?: string }

/** What came of an attempt to escape. Both `escaped` and `failed`, which says nothing, are bad news. */
export interface AttemptResult {
  /** What a command must not be able to do. */
  readonly attempt: string
  readonly outcome: 'held' | 'escaped' | 'skipped' | 'failed'
  /** What it got at, or why nothing is known. */
  readonly detail?: string
}
