import { existsSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { Group } from './cgroup/group.ts'
import { LimitError } from './limits.ts'

/** In which every shell that is called `sh` counts the size of a file. */
const BLOCK_BYTES = 512
const GAVE_UP = `echo 'waldo: the limits could not be set, so the command was not run' >&2; exit 126`

export interface Entry {
  readonly groups: readonly Group[]
  /** CPU time of each process: there comes a signal at the first number, and the end at the second. */
  readonly cpuSeconds: { readonly soft: number; readonly hard: number } | undefined
  readonly fileBytes: number | undefined
}

/**
 * A prefix for a command line: a shell that enters the groups, lowers its own limits, and then becomes the command.
 * Nothing of the command runs before all of that is done, and nothing at all if a part of it fails.
 */
export function enterLimits({ groups, cpuSeconds, fileBytes }: Entry): string[] {
  // Names are arguments, as a script would take a quote in one for its own.
  const steps = groups.map((_, index) => `echo 0 >"$${index + 1}"`)
  if (groups.length > 0) steps.push(`shift ${groups.length}`)
  steps.push('ulimit -c 0')
  // The soft one first: at no moment may it be above the hard one.
  if (cpuSeconds) steps.push(`ulimit -St ${cpuSeconds.soft}`, `ulimit -Ht ${cpuSeconds.hard}`)
  const isWhole = fileBytes === undefined || fileBytes % BLOCK_BYTES === 0
  if (isWhole && fileBytes !== undefined) steps.push(`ulimit -f ${fileBytes / BLOCK_BYTES}`)
  const entrances = groups.map(({ entrance }) => entrance)
  return [...becomeAfter(steps), ...entrances, ...(isWhole ? [] : exactFileSize(fileBytes))]
}

/** The same for within a user namespace, where the number of processes is that of those in the namespace. */
export function enterProcessLimit(processes: number): string[] {
  // What some shells call -u is -p to others, among whom it means something else.
  return becomeAfter([`{ ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes}; }`])
}

function becomeAfter(steps: readonly string[]): string[] {
  return [...shell(), '-c', `${steps.join(' && ')} && exec "$@"; ${GAVE_UP}`, 'waldo-limits']
}

/** The environment is the command's. Bash would take functions and options from it, and run what they say. */
function shell(): string[] {
  return basename(realpathSync('/bin/sh')) === 'bash' ? ['/bin/sh', '-p'] : ['/bin/sh']
}

/** Shells know whole blocks only. */
function exactFileSize(bytes: number): string[] {
  const prlimit = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path))
  if (prlimit === undefined) {
    const reason = `without prlimit it must be a multiple of ${BLOCK_BYTES}; ask for one, or install util-linux`
    throw new LimitError('fileBytes', reason)
  }
  return [prlimit, `--fsize=${bytes}:${bytes}`, '--']
}
