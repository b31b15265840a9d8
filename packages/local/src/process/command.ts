import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { type ConfinedLaunch, NOT_CONFINED } from './confinement.ts'
import { withoutCoreFiles } from './core-files.ts'
import { findProgram } from './find-program.ts'
import { spawnError } from './spawn-error.ts'
import type { Ending, SpawnOptions } from './spawned.ts'

const MAX_TEXT_BYTES = 128 * 1024
const MAX_TOTAL_BYTES = 2 * 1024 * 1024
const POINTER_BYTES = 8

interface Command {
  /** What to run, as an absolute path, and its arguments. */
  readonly cmd: string[]
  readonly options: { argv0: string; cwd: string; env: Record<string, string> }
  /** For the child's descriptors from 3 on. */
  readonly descriptors: readonly number[]
}

export interface Running<T> {
  readonly child: T
  readonly launch: ConfinedLaunch | undefined
}

/** Calls `spawn` with the command as Bun wants it, and turns whatever it throws into an `ExecError`. */
export function runCommand<T extends { pid: number }>(
  request: SpawnOptions,
  { terminal }: { terminal: boolean },
  spawn: (command: Command) => T,
): Running<T> {
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
    const { confinement, arg0, env } = request
    if (confinement) {
      checkRunnable(path, cwd)
      checkSize([path, ...args, ...Object.entries(env).map((pair) => pair.join('='))])
      const launch = confinement.launch({ program: path, args, arg0, cwd: request.cwd, env }, { terminal })
      return runConfined(launch, request.mark, spawn)
    }
    const options = { argv0: arg0 ?? program, cwd, env }
    return { child: spawn({ cmd: [path, ...args], options, descriptors: [] }), launch: undefined }
  } catch (cause) {
    if (ExecError.is(cause)) throw cause
    throw spawnError(program, request.cwd, cause)
  } finally {
    if (directory !== undefined) closeSync(directory)
  }
}

function runConfined<T extends { pid: number }>(
  launch: ConfinedLaunch,
  mark: SpawnOptions['mark'],
  spawn: (command: Command) => T,
): Running<T> {
  const { argv, cwd, env } = launch
  try {
    const options = { argv0: argv[0], cwd: cwd as string, env: { ...env, ...(launch.isMonitor && mark) } }
    const child = withoutCoreFiles(() => launch.start((descriptors) => spawn({ cmd: [...argv], options, descriptors })))
    return { child, launch }
  } catch (error) {
    launch.abandon()
    throw error
  }
}

/** What starts the command inside reports nothing that we could tell anybody: so look before. */
function checkRunnable(path: string, cwd: string): void {
  accessSync(path, constants.X_OK)
  if (!statSync(path).isFile()) throw Object.assign(new Error('not a file'), { code: 'EACCES' })
  if (!statSync(cwd).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
}

/** What the kernel takes for one process: each text, and all of them. */
function checkSize(texts: readonly string[]): void {
  const sizes = texts.map((text) => Buffer.byteLength(text) + 1)
  const total = sizes.reduce((sum, size) => sum + size + POINTER_BYTES, 0)
  if (total <= MAX_TOTAL_BYTES && sizes.every((size) => size <= MAX_TEXT_BYTES)) return
  throw Object.assign(new Error('arguments and environment are too large'), { code: 'E2BIG' })
}

/** When the child has ended, and everything that confined it is gone. */
export async function endOfLaunch(exited: Promise<Ending>, launch: ConfinedLaunch | undefined): Promise<Ending> {
  const ending = await exited
  if (!launch) return ending
  const ran = launch.ran(ending.signal !== null)
  try {
    await launch.settle()
  } catch {
    // What could not be cleared away does not change how it ended, and those who wait for that must not wait for ever.
  }
  return ran ? ending : { code: NOT_CONFINED, signal: null, unconfined: true }
}

function refuseNulBytes({ argv, arg0, env }: SpawnOptions): void {
  const texts = [...argv, arg0 ?? '', ...Object.keys(env), ...Object.values(env)]
  if (texts.some((text) => text.includes('\0'))) {
    throw new ExecError('SPAWN_FAILED', 'nul byte found in provided data: arguments and environment cannot hold one')
  }
}
