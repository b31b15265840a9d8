import type { ConfinedCommand, ConfinedLaunch } from '@waldo/local'
import type { Wrapping } from '@waldo/sandbox/linux'

/** A command that may see everything, but not use everything. */
export class LimitedLaunch implements ConfinedLaunch {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | Uint8Array
  readonly isMonitor = false

  constructor({ program, args, arg0, cwd, env }: ConfinedCommand, wrapping: Wrapping) {
    if (typeof cwd !== 'string') throw new Error('limits need a working directory whose name is UTF-8')
    const renamed = arg0 === undefined ? [] : ['/bin/bash', '-pc', 'exec -a "$0" -- "$@"', arg0]
    this.argv = wrapping.outside([...renamed, program, ...args]) as [string, ...string[]]
    this.env = env
    this.cwd = cwd
  }

  start<T>(spawn: (descriptors: readonly number[]) => T): T {
    return spawn([])
  }

  ran(): boolean {
    return true
  }

  abandon(): void {}

  async settle(): Promise<void> {}
}
