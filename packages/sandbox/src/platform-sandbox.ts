import type { Command, Wrapping } from './linux/launch.ts'
import type { SandboxNetwork } from './linux/linux-sandbox.ts'
import type { Policy } from './policy/bind-policy.ts'
import type { ThisHost } from './this-host.ts'

/** What the system has to keep commands to a policy. */
export interface PlatformSandbox {
  /** The machine as it is for commands. */
  lookAround(): ThisHost
  /** Throws a `PolicyError`, now or later, if this cannot be enforced. Later only if there is a tree to look through. */
  prepare(options: PlatformPolicy): PlatformPrepared | Promise<PlatformPrepared>
  close(): void
}

export interface PlatformPolicy {
  readonly policy: Policy
  /** From which the policy was made. */
  readonly facts: ThisHost
  readonly network: SandboxNetwork
}

/** A policy that is ready for commands. */
export interface PlatformPrepared {
  /** The same as long as what was prepared still means what it meant. */
  readonly identity: string
  /** The machine as it is now. */
  lookAgain(): ThisHost
  /** Throws if there is no way to start it. */
  launch(command: Command, options: { readonly terminal: boolean; readonly wrapping?: Wrapping }): PlatformLaunch
}

/** What to start, so that the command runs in the sandbox. */
export interface PlatformLaunch {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Whether the child is not the command, but only watches over it. */
  readonly isMonitor: boolean
  /** Once. `spawn` runs it at once, and gives it these descriptors as 3, 4, 5 and so on. */
  start<T>(spawn: (descriptors: readonly number[]) => T): T
  /** It has been started. `kill` is called if it turns out not to be what was meant. */
  begin(kill: () => void): Promise<void>
  /** To be asked when it has ended. False if the command never began, because the sandbox could not be made. */
  ran(bySignal: boolean): boolean
  /** To be called when it has ended. Resolves when what was made for it is gone. */
  settle(): Promise<void>
  /** It was never started, or could not be. */
  abandon(): void
}
