import type { FileRules } from '../policy/file-rules.ts'
import { ThisHost } from '../this-host.ts'
import { type Command, Launch, type LaunchOptions, type Wrapping } from './launch.ts'
import type { MemoryFile } from './memory-file.ts'
import type { MountPlan } from './mount-plan.ts'
import { hasSignalOptions } from './signal-options.ts'
import { identityOf } from './start-check.ts'

/** What there has to be while a command runs, and what has to be looked at before it may. */
export type Hold = Pick<LaunchOptions, 'check' | 'release' | 'ended'>

interface Prepared {
  readonly facts: ThisHost
  readonly files: FileRules | undefined
  readonly mounts: MountPlan | undefined
  readonly bubblewrap: string
  readonly seccomp: MemoryFile
  readonly network: LaunchOptions['network']
  /** The same for all commands. */
  readonly isolation: { readonly pipes: readonly string[]; readonly terminal: readonly string[] }
  readonly hold: () => Hold
}

const NO_WRAPPING: Wrapping = { outside: (argv) => argv, inside: (argv) => argv }

/** A policy that is ready for commands. */
export class PreparedSandbox {
  readonly #prepared: Prepared

  constructor(prepared: Prepared) {
    this.#prepared = prepared
  }

  /** Which files and directories are mounted. A mount goes when what it is on is replaced by something else. */
  get identity(): string {
    return (this.#prepared.mounts?.pinned ?? []).map(identityOf).join(' ')
  }

  /** The machine as it is now. */
  lookAgain(): ThisHost {
    return new ThisHost()
  }

  /** Throws if there is no way to start it. */
  launch(command: Command, { terminal, wrapping = NO_WRAPPING }: { terminal: boolean; wrapping?: Wrapping }): Launch {
    const { facts, bubblewrap, seccomp, network, isolation, hold } = this.#prepared
    const cwd = typeof command.cwd === 'string' ? facts.resolve(command.cwd).path : command.cwd
    const held = hold()
    try {
      return new Launch(
        { ...command, cwd },
        {
          bubblewrap,
          wrapping,
          seccomp,
          network,
          isolation: terminal ? isolation.terminal : isolation.pipes,
          jobControl: terminal ? this.#jobControl() : undefined,
          ...held,
        },
      )
    } catch (error) {
      held.check?.discard()
      held.release?.()
      held.ended()
      throw error
    }
  }

  /** Undefined if the program that it takes is not there, or not to be seen inside. */
  #jobControl(): LaunchOptions['jobControl'] {
    const { facts, files } = this.#prepared
    const { path, exists } = facts.resolve('/usr/bin/env')
    const isVisible = exists && files?.decide(path).access !== 'none'
    return isVisible && hasSignalOptions(path) ? { env: path } : undefined
  }
}
