import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything at and below a path with what must not change about it. Not the times of directories: mount points may come
 * and go in them.
 */
export function factsOf(path: string, facts = new Map<string, string>()): Map<string, string> {
  const is = lstatSync(path)
  const of: unknown[] = [is.mode, is.uid, is.gid]
  if (is.isFile()) of.push(is.size, is.mtimeMs, readFileSync(path, 'latin1'))
  if (is.isSymbolicLink()) of.push(readlinkSync(path))
  facts.set(path, of.join(' '))
  if (is.isDirectory()) for (const name of readdirSync(path)) factsOf(join(path, name), facts)
  return facts
}

/** In words. */
export function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const told: string[] = []
  for (const [path, facts] of before) {
    if (!after.has(path)) told.push(`${path} is gone`)
    else if (after.get(path) !== facts) told.push(`${path} was changed`)
  }
  for (const path of after.keys()) if (!before.has(path)) told.push(`${path} appeared`)
  return told
}
