import type { ProcessExit } from '@waldo/protocol'
import type { Ending } from './spawned.ts'

export interface ConfinedCommand {
  /** Absolute. */
  readonly program: string
  readonly args: readonly string[]
  readonly arg0: string | undefined
  readonly cwd: string | Uint8Array
  readonly env: Readonly<Record<string, string>>
}

/** A command as it has to be started so that it is kept to what it may do. */
export interface ConfinedLaunch {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | Uint8Array
  /** Whether the child is not the command, but only watches over it: signals are then not for the child. */
  readonly isMonitor: boolean
  /** Once. `spawn` starts the child at once, and gives it these descriptors as 3, 4, 5 and so on. */
  start<T>(spawn: (descriptors: readonly number[]) => T): T
  /** It was never started, or could not be. */
  abandon(): void
  /** The child has ended, perhaps by a signal. False if the command itself never began. */
  ran(bySignal: boolean): boolean
  /** The child has ended. Resolves when nothing that it left can do anything any more, and what was made for it is gone. */
  settle(): Promise<void>
}

/** Keeps one process to what it may do, by whatever means there are. */
export interface Confinement {
  /** Throws an `ExecError` if there is no way. */
  launch(command: ConfinedCommand, options: { readonly terminal: boolean }): ConfinedLaunch
  /** Nothing will be launched. */
  abandon(): void
  /** What is to be said about its end, given the last that it wrote. */
  judge(ending: Ending, lastOutput: string): Partial<ProcessExit>
  /** It runs. Gives the means to end it by force. */
  started(pid: number, end: (endedBy: ProcessExit['endedBy']) => void): void
}

/** What a process ends with that never began, because what confines it could not be set up. */
export const NOT_CONFINED = 101
