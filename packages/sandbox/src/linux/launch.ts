import { closeSync, readFileSync } from 'node:fs'
import { MemoryFile } from './memory-file.ts'
import type { EmptyNetwork } from './netns/empty-network.ts'
import type { StartCheck } from './start-check.ts'

export interface Command {
  /** Absolute. */
  readonly program: string
  readonly args: readonly string[]
  /** What it is to be called, if not by its path. */
  readonly arg0: string | undefined
  readonly cwd: string | Uint8Array
  readonly env: Readonly<Record<string, string>>
}

/** What else has to happen on the way to the command. Both return a command line that runs the given one. */
export interface Wrapping {
  /** Before bubblewrap: into a network, into limits. */
  outside(argv: readonly string[]): readonly string[]
  /** In the sandbox. */
  inside(argv: readonly string[]): readonly string[]
}

export interface LaunchOptions {
  readonly bubblewrap: string
  readonly wrapping: Wrapping
  /** For bubblewrap. */
  readonly isolation: readonly string[]
  readonly seccomp: MemoryFile
  /** Where bubblewrap is to be started, if it does not make a network itself and the command may not use ours. */
  readonly network: EmptyNetwork | undefined
  /** Set if the sandbox has to be looked at before the command may begin. */
  readonly check: StartCheck | undefined
  /** Set if the command has a terminal, and these programs can be run inside. */
  readonly jobControl: { readonly env: string } | undefined
  /** Undefined if there is nothing that could be missed by those who are still inside. */
  readonly release: (() => void) | undefined
  readonly ended: () => void
}

/** Of the descriptor on which it waits to be checked. */
const CHECK = 6
/** Bubblewrap counts every option and every argument of one. */
const MAX_ARGUMENTS = 9000
/** How often we look whether everything inside is gone, and how long. */
const GONE_POLL_MS = 1
const GONE_MS = 2000

/** A started sandbox is a process that watches over another, which holds everything that the command starts. */
export class Launch {
  /** What to run, by `start`. */
  readonly argv: readonly [string, ...string[]]
  /** Nothing that comes from a client: what reads it is not in the sandbox yet. */
  readonly env: Readonly<Record<string, string>> = {}
  readonly cwd = '/'
  readonly isMonitor = true
  readonly #seccomp: MemoryFile
  readonly #args: Uint8Array
  readonly #network: EmptyNetwork | undefined
  readonly #status: MemoryFile
  readonly #release: (() => void) | undefined
  readonly #onEnd: () => void
  readonly #check: StartCheck | undefined
  #started = false
  #ended = false
  #refused = false

  constructor(command: Command, options: LaunchOptions) {
    const { bubblewrap, wrapping, isolation, seccomp, network, check, jobControl, release, ended } = options
    this.#seccomp = seccomp
    this.#network = network
    this.#release = release
    this.#onEnd = ended
    this.#check = check
    const list = [...isolation, '--clearenv']
    for (const [name, value] of Object.entries(command.env)) list.push('--setenv', name, value)
    list.push('--seccomp', '3', '--json-status-fd', '5')
    if (check) list.push('--block-fd', String(CHECK))
    list.push('--chdir')
    const signals = 'signal=INT,QUIT,TSTP'
    this.argv = [
      // Ctrl-C is for the command: the one who watches over it is in the same group, and would end it.
      ...(jobControl ? [jobControl.env, `--ignore-${signals}`] : []),
      ...wrapping.outside([
        ...[bubblewrap, '--args', '4', '--'],
        ...(jobControl ? [jobControl.env, `--default-${signals}`] : []),
        ...wrapping.inside(commandLine(command, jobControl !== undefined)),
      ]),
    ] as unknown as [string, ...string[]]
    if (list.length + 1 + this.argv.length > MAX_ARGUMENTS) throw tooMany()
    this.#args = encodeArguments(list, command.cwd)
    this.#status = new MemoryFile()
  }

  /**
   * Once. `spawn` runs `argv` at once, with these as its descriptors from 3 on: bubblewrap learns from them what to do, so
   * that nobody can start it in another way, which could be in the wrong network.
   */
  start<T>(spawn: (descriptors: readonly number[]) => T): T {
    const handed = openAll(this.#seccomp, this.#args, this.#status)
    if (this.#check) handed.push(this.#check.descriptor)
    this.#started = true
    try {
      return this.#network ? this.#network.around(() => spawn(handed)) : spawn(handed)
    } finally {
      for (const fd of handed) closeSync(fd)
    }
  }

  /** It has been started. `kill` is called if it turns out not to be what was meant. */
  async begin(kill: () => void): Promise<void> {
    this.#refused = this.#check !== undefined && !(await this.#check.passes(() => this.#childPid(), CHECK))
    if (this.#refused) kill()
  }

  /** To be asked when it has ended. False if the command never began, because the sandbox could not be made. */
  ran(bySignal: boolean): boolean {
    // Whoever was killed has had no time to say so.
    return !this.#refused && (bySignal || this.#status.text().includes('"exit-code"'))
  }

  /** To be called when it has ended. Resolves when nothing that was inside is left, and nothing of ours. */
  async settle(): Promise<void> {
    const pid = this.#release && this.#childPid()
    // What was inside may need a moment more to be gone; until then it could use what we take away.
    for (let left = GONE_MS; pid !== undefined && isAlive(pid) && left > 0; left -= GONE_POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, GONE_POLL_MS))
    }
    this.abandon()
  }

  /** The first process inside. */
  #childPid(): number | undefined {
    const [, pid] = (!this.#ended && /"child-pid": (\d+)/.exec(this.#status.text())) || []
    return pid === undefined ? undefined : Number(pid)
  }

  /** It was never started, or could not be. */
  abandon(): void {
    this.#ended = true
    if (this.#started) this.#check?.close()
    else this.#check?.discard()
    this.#status.close()
    this.#release?.()
    this.#onEnd()
  }
}

/** All of them, or none. */
function openAll(seccomp: MemoryFile, args: Uint8Array, status: MemoryFile): number[] {
  const list = new MemoryFile(args)
  const opened: number[] = []
  try {
    opened.push(seccomp.open('r'))
    opened.push(list.open('r'))
    opened.push(status.open('a'))
    return opened
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  } finally {
    list.close()
  }
}

/** Each ended by a zero. The last one is a path, which need not be text. */
function encodeArguments(args: readonly string[], last: string | Uint8Array): Buffer {
  const text = `${args.join('\0')}\0`
  if (typeof last === 'string') return Buffer.from(`${text}${last}\0`)
  return Buffer.concat([Buffer.from(text), last, Buffer.of(0)])
}

function tooMany(): Error {
  return new Error(
    `too many arguments and variables for a sandbox: about ${MAX_ARGUMENTS}, a variable counting as three`,
  )
}

/** Neither bubblewrap nor `env` can be told a name for the command that is not that of its file. */
function commandLine({ program, args, arg0 }: Command, throughEnv: boolean): string[] {
  if (arg0 !== undefined && arg0 !== program)
    return ['/bin/bash', '-pc', 'exec -a "$0" -- "$@"', arg0, program, ...args]
  // `env` would take such a path for a variable.
  if (throughEnv && program.includes('=')) return ['/bin/sh', '-c', 'exec "$@"', 'sh', program, ...args]
  return [program, ...args]
}

/** Who has ended and is only waited for can do nothing any more. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}
