import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** From this file, if it is where the sources have it and not in somebody's bundle. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const HERE = 'packages/sdk/src/find-executable.ts'

/**
 * The program that an environment of this machine is started with, or parts of it: `WALDO_EXECUTABLE`, what the PATH
 * finds, or the script of these sources. As a path, for it is looked for from other directories, too; `waldo` if it is
 * nowhere, so that the error names it.
 */
export function findExecutable({ WALDO_EXECUTABLE, PATH = '' }: NodeJS.ProcessEnv): string {
  if (WALDO_EXECUTABLE) return WALDO_EXECUTABLE
  const candidates = PATH.split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, 'waldo'))
  if (existsSync(join(ROOT, HERE))) candidates.push(join(ROOT, 'waldo'))
  return candidates.find(isExecutable) ?? 'waldo'
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
