import type { Command, Wrapping } from '../linux/launch.ts'
import type { PlatformLaunch } from '../platform-sandbox.ts'
import { seatbeltCommand } from './seatbelt-command.ts'
import type { SeatbeltProfile } from './seatbelt-profile.ts'

/** `sandbox-exec` enters the sandbox and becomes the command: there is nobody who watches, and nothing to clean up. */
export class MacLaunch implements PlatformLaunch {
  readonly argv: readonly [string, ...string[]]
  /** Nothing that comes from a client: what reads it, the loader of libraries to begin with, is not in the sandbox yet. */
  readonly env = {}
  readonly cwd: string
  readonly isMonitor = false

  constructor(command: Command, profile: SeatbeltProfile, wrapping: Wrapping) {
    if (typeof command.cwd !== 'string') throw new Error('a sandbox needs a working directory whose name is UTF-8')
    this.cwd = command.cwd
    const variables = Object.entries(command.env).map(([name, value]) => `${name}=${value}`)
    const inside = ['/usr/bin/env', '-i', '--', ...variables, ...wrapping.inside(commandLine(command))]
    this.argv = wrapping.outside(seatbeltCommand(profile, inside)) as [string, ...string[]]
  }

  start<T>(spawn: (descriptors: readonly number[]) => T): T {
    return spawn([])
  }

  async begin(): Promise<void> {}

  /** Should it not get there, it says so where the command would, and ends: nothing tells the two apart for certain. */
  ran(): boolean {
    return true
  }

  /** Who is left stays in the sandbox, which is not a thing that could be taken away. */
  async settle(): Promise<void> {}

  abandon(): void {}
}

/** `env` cannot be told a name for the command, and would take a path with `=` in it for a variable. */
function commandLine({ program, args, arg0 = program }: Command): string[] {
  if (arg0 === program && !program.includes('=')) return [program, ...args]
  return ['/bin/bash', '-pc', 'exec -a "$0" -- "$@"', arg0, program, ...args]
}
