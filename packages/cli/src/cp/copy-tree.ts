import { containsPath, limits } from '@waldo/protocol'
import { explain } from '../explain.ts'
import { UsageError } from '../usage-error.ts'
import { type CopyOptions, copyFile, modeOf, setMode } from './copy-file.ts'
import { type CopyPlace, show } from './copy-place.ts'
import { sameNameIn } from './path-names.ts'

/** Files that are under way at a time: most of the time of a small one is waiting for answers. */
const AT_A_TIME = 8

interface Directory {
  readonly from: CopyPlace
  readonly to: CopyPlace
  readonly depth: number
}

/**
 * A directory and everything below, each file whole or not at all; what is in the target already and not in the source
 * stays. Links are followed: the copy has what they lead to. Returns what could not be copied because it is neither a
 * file nor a directory.
 */
export async function copyTree(from: CopyPlace, to: CopyPlace, options: CopyOptions): Promise<string[]> {
  await refuseInside(from, to)
  const skipped: string[] = []
  const directories: Directory[] = [{ from, to, depth: 0 }]
  for (const directory of directories) {
    // It grows while we go through it.
    const { files, below } = await readDirectory(directory, skipped, options)
    directories.push(...below)
    await eachOf(files, ([source, target]) => copyFile(source, target, options))
  }
  // Last and from the bottom up: nothing can be put into a directory that must not be written.
  for (const directory of directories.reverse()) {
    await setMode(directory.to, await modeOf(directory.from, options), options)
  }
  return skipped
}

async function readDirectory({ from, to, depth }: Directory, skipped: string[], { signal }: CopyOptions) {
  if (depth > limits.walkDepth) {
    throw new UsageError(`${show(from)} is ${depth} directories deep`, 'does a link in it lead back to above itself?')
  }
  const files: [CopyPlace, CopyPlace][] = []
  const below: Directory[] = []
  const there = to.chosen.environment.files
  await there.createDirectory(to.path, { recursive: true, signal }).catch((error) => {
    throw explain(error, show(to))
  })
  const entries = await from.chosen.environment.files.readDirectory(from.path, { signal }).catch((error) => {
    throw explain(error, show(from))
  })
  for (const { path, isDirectory, isFile } of entries) {
    const source = { ...from, path }
    const target = { ...to, path: sameNameIn(to.path, path) }
    if (isDirectory) below.push({ from: source, to: target, depth: depth + 1 })
    else if (isFile) files.push([source, target])
    else skipped.push(show(source))
  }
  return { files, below }
}

/** A copy inside of what is copied would never end. */
async function refuseInside(from: CopyPlace, to: CopyPlace): Promise<void> {
  const [here, there] = await Promise.all([from.chosen.environment.info(), to.chosen.environment.info()])
  if (here.providerId !== there.providerId || !containsPath(from.path, to.path)) return
  throw new UsageError(`cannot copy ${show(from)} into itself, ${show(to)}`)
}

/** A few at a time. After a failure no more are begun, and those that are under way are waited for. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const failures: unknown[] = []
  const work = async () => {
    for (const item of waiting) {
      if (failures.length > 0) return
      await act(item).catch((error) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  if (failures.length > 0) throw failures[0]
}
