import type { SandboxIntent } from '@waldo/protocol'
import { bindPolicy, type Policy, PolicyError } from '@waldo/sandbox'
import type { LinuxSandbox } from '@waldo/sandbox/linux'

export interface ExecutorSandboxOptions {
  readonly stateDir: string
  /** Files of the executor's own that nobody in a sandbox has to see. */
  readonly hidden: readonly string[]
}

/** What this executor has to enforce what clients ask for. Loaded when somebody asks. */
export class ExecutorSandbox {
  readonly #options: ExecutorSandboxOptions
  #linux: { sandbox: LinuxSandbox; module: typeof import('@waldo/sandbox/linux') } | undefined

  constructor(options: ExecutorSandboxOptions) {
    this.#options = options
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

  get linux(): LinuxSandbox {
    return this.#load().sandbox
  }

  close(): void {
    this.#linux?.sandbox.close()
  }

  #load() {
    if (process.platform !== 'linux') {
      throw new PolicyError('unenforceable', 'sandbox intent cannot be enforced on this executor')
    }
    if (!this.#linux) {
      const module = require('@waldo/sandbox/linux') as typeof import('@waldo/sandbox/linux')
      const { stateDir, hidden } = this.#options
      const sandbox = new module.LinuxSandbox({ stateDir, hidden: () => hidden })
      this.#linux = { sandbox, module }
      sandbox.sweep()
    }
    return this.#linux
  }
}
