import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Masks } from './mount-plan.ts'

/** Makes the things that are mounted over others, once, in a directory that only we can get into. */
export function createMasks(stateDir: string): Masks {
  const directory = join(stateDir, 'masks')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid } = lstatSync(directory)
  if (uid !== process.getuid?.()) throw new Error(`${directory} belongs to somebody else`)
  chmodSync(directory, 0o700)
  const file = (name: string, mode: number) => {
    const path = join(directory, name)
    if (!lstatSync(path, { throwIfNoEntry: false })) closeSync(openSync(path, 'wx', mode))
    chmodSync(path, mode)
    return path
  }
  const folder = (name: string, mode: number) => {
    const path = join(directory, name)
    mkdirSync(path, { recursive: true, mode })
    chmodSync(path, mode)
    return path
  }
  return {
    deniedFile: file('denied-file', 0),
    deniedDirectory: folder('denied-directory', 0),
    emptyFile: file('empty-file', 0o444),
    emptyDirectory: folder('empty-directory', 0o555),
  }
}
