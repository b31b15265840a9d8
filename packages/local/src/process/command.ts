import { closeSync, constants, openSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { findProgram } from './find-program.ts'
import { spawnError } from './spawn-error.ts'
import type { SpawnOptions } from './spawned.ts'

interface Command {
  /** What to run, as an absolute path, and its arguments. */
  readonly cmd: string[]
  readonly options: { argv0: string; cwd: string; env: Record<string, string> }
}

/** Calls `spawn` with the command as Bun wants it, and turns whatever it throws into an `ExecError`. */
export function runCommand<T>(request: SpawnOptions, spawn: (command: Command) => T): T {
  const [program, ...args] = request.argv
  if (program === '') throw new ExecError('SPAWN_FAILED', 'the program in argv[0] is empty')
  refuseNulBytes(request)
  let directory: number | undefined
  try {
    // A name that is not UTF-8 has no form as a string: reach the directory through a descriptor instead. The child
    // resolves the link after the fork and before the descriptor closes on exec.
    if (typeof request.cwd !== 'string') {
      directory = openSync(Buffer.from(request.cwd), constants.O_DIRECTORY | constants.O_RDONLY)
    }
    const cwd = directory === undefined ? (request.cwd as string) : `/proc/self/fd/${directory}`
    const path = findProgram(program, cwd, request.env.PATH)
    return spawn({ cmd: [path, ...args], options: { argv0: request.arg0 ?? program, cwd, env: request.env } })
  } catch (cause) {
    throw spawnError(program, request.cwd, cause)
  } finally {
    if (directory !== undefined) closeSync(directory)
  }
}

function refuseNulBytes({ argv, arg0, env }: SpawnOptions): void {
  const texts = [...argv, arg0 ?? '', ...Object.keys(env), ...Object.values(env)]
  if (texts.some((text) => text.includes('\0'))) {
    throw new ExecError('SPAWN_FAILED', 'nul byte found in provided data: arguments and environment cannot hold one')
  }
}
