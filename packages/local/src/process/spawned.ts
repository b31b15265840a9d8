import { constants } from 'node:os'
import type { TerminalSize } from '@waldo/protocol'
import type { Confinement } from './confinement.ts'
import type { Stdin } from './stdin.ts'

export interface SpawnOptions {
  /** At least the program. */
  readonly argv: readonly [string, ...string[]]
  readonly arg0: string | undefined
  readonly cwd: string | Uint8Array
  readonly env: Record<string, string>
  readonly pipeStdin: boolean
  /** Undefined: it may do what we may. */
  readonly confinement: Confinement | undefined
  /** Variables by which what confines it is known, should we die. */
  readonly mark: Readonly<Record<string, string>>
}

export interface TerminalOptions extends SpawnOptions {
  readonly size: TerminalSize
}

export interface Ending {
  /** 0 to 255; 128 plus its number after a signal. */
  readonly code: number
  readonly signal: string | null
  /** What was to confine it could not be set up, and it never began. */
  readonly unconfined?: true
}

/** A process of the operating system with its pipes or its terminal. Its output goes to a log. */
export interface Spawned {
  readonly pid: number
  /** The process only watches over the command. */
  readonly isMonitor: boolean
  readonly stdin: Stdin | undefined
  /** There is no process with this number any more. */
  readonly reaped: Promise<unknown>
  /** It is gone, and so is what confined it; others may still hold its output. */
  readonly exited: Promise<Ending>
  /** Nobody holds its output any more, and all of it is in the log. */
  readonly drained: Promise<void>
  /** Takes no more output, whoever holds it: `drained` follows. */
  abandonOutput(): void
  /** Missing without a terminal. */
  resize?(size: TerminalSize): void
}

/** As shells report it. */
export function endingOf(exitCode: number | null, signal: string | number | null): Ending {
  if (signal === null) return { code: exitCode ?? -1, signal: null }
  const name = typeof signal === 'string' ? signal : (signalName(signal) ?? `SIG${signal}`)
  return { code: 128 + (constants.signals[name as NodeJS.Signals] ?? Number(signal)), signal: name }
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
}
