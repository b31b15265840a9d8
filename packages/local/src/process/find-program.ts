import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Where the C library looks when there is no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin'

/**
 * What `execvp` would run in that directory and environment. A name that is nowhere on the PATH is returned as it is,
 * for the spawn to fail on.
 */
export function findProgram(name: string, cwd: string, path: string | undefined): string {
  if (name.includes('/')) return resolve(cwd, name)
  for (const directory of (path ?? DEFAULT_PATH).split(':')) {
    const candidate = resolve(cwd, directory, name)
    try {
      accessSync(candidate, constants.X_OK)
      if (statSync(candidate).isFile()) return candidate
    } catch {
      // Not here.
    }
  }
  return resolve(cwd, '.no-such-program', name)
}
