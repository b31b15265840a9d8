import type { Command, Wrapping } from '../linux/launch.ts'
import type { SandboxNetwork } from '../linux/linux-sandbox.ts'
import type { PlatformPrepared, PlatformSandbox } from '../platform-sandbox.ts'
import type { Policy } from '../policy/bind-policy.ts'
import type { FileRules } from '../policy/file-rules.ts'
import type { HostFacts } from '../policy/host-facts.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { ThisHost } from '../this-host.ts'
import { MacLaunch } from './mac-launch.ts'
import { MAC_SYSTEM } from './mac-system.ts'
import { type SeatbeltProfile, seatbeltProfile } from './seatbelt-profile.ts'

/** By which denials can be found in the system's log. */
const TAG = 'waldo'
const NO_WRAPPING: Wrapping = { outside: (argv) => argv, inside: (argv) => argv }

export interface MacSandboxOptions {
  /** The executor's own files: output of other processes, sockets, keys. */
  readonly hidden: () => readonly string[]
}

export interface MacPrepareOptions {
  readonly policy: Policy
  /** From which the policy was made. */
  readonly facts: HostFacts
  readonly network: SandboxNetwork
}

export interface MacHelperOptions {
  readonly files: FileRules
  readonly facts: HostFacts
  /** What it consists of: to be read, whatever the rules say. */
  readonly own: readonly string[]
}

/** What Seatbelt makes of a policy. Its rules are about paths, and hold for whatever is there at any time. */
export class MacSandbox implements PlatformSandbox {
  readonly #options: MacSandboxOptions

  constructor(options: MacSandboxOptions) {
    this.#options = options
  }

  lookAround(): ThisHost {
    return new ThisHost(undefined, MAC_SYSTEM)
  }

  /** Throws a `PolicyError` if this cannot be enforced. */
  prepare({ policy, facts, network }: MacPrepareOptions): PreparedMacSandbox {
    if (network === 'proxy') {
      throw new PolicyError(
        'unavailable',
        'enforceManagedNetwork is not supported by this executor on macOS: ask for a network that is restricted or ' +
          'enabled, or run the executor on Linux',
      )
    }
    return new PreparedMacSandbox(seatbeltProfile({ ...policy, network }, { tag: TAG, hidden: this.#hidden(facts) }))
  }

  /** For a program of ours, which knows the rules. */
  prepareHelper({ files, facts, own }: MacHelperOptions): PreparedMacSandbox {
    const policy: Policy = { files, network: 'restricted', skipped: [] }
    return new PreparedMacSandbox(seatbeltProfile(policy, { tag: TAG, hidden: this.#hidden(facts), own }))
  }

  close(): void {}

  /** Those that do not exist, too: they may come while the command runs. */
  #hidden(facts: HostFacts): string[] {
    return this.#options.hidden().map((path) => facts.resolve(path).path)
  }
}

/** A policy that is ready for commands. */
export class PreparedMacSandbox implements PlatformPrepared {
  readonly #profile: SeatbeltProfile

  constructor(profile: SeatbeltProfile) {
    this.#profile = profile
  }

  get identity(): string {
    return JSON.stringify(this.#profile)
  }

  lookAgain(): ThisHost {
    return new ThisHost(undefined, MAC_SYSTEM)
  }

  launch(command: Command, { wrapping = NO_WRAPPING }: { wrapping?: Wrapping } = {}): MacLaunch {
    return new MacLaunch(command, this.#profile, wrapping)
  }
}
