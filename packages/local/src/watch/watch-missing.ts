import { statSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import type { ByteString } from '../byte-string.ts'
import type { NativePath } from '../files/native-path.ts'
import { bytePath, pathBytes } from './byte-path.ts'
import { PathTrail } from './path-trail.ts'

const MAX_PATHS = 64

/**
 * Calls `onChanged` once, when one of the `missing` paths exists or `present` does not. Links are followed: one that
 * leads nowhere is missing. Undefined if it is so already. Throws an `ExecError` if the paths cannot be watched.
 */
export function watchMissing(
  missing: readonly NativePath[],
  present: NativePath | undefined,
  onChanged: () => void,
): { stop(): void } | undefined {
  if (missing.length > MAX_PATHS) {
    throw new ExecError('FILE_INVALID', `cannot wait for ${missing.length} paths at once; the most are ${MAX_PATHS}`)
  }
  // Each path with whether it must exist for things to be as they were.
  const paths = missing.map((path) => ({ path: bytePath(path), expected: false }))
  if (present !== undefined) paths.push({ path: bytePath(present), expected: true })
  const changed = () => paths.some(({ path, expected }) => exists(path) !== expected)
  if (changed()) return undefined

  const trails: PathTrail[] = []
  const stop = () => {
    for (const trail of trails.splice(0)) trail.close()
  }
  for (const { path, expected } of paths) {
    const check = () => {
      if (exists(path) === expected) return
      stop()
      onChanged()
    }
    trails.push(new PathTrail(path, check))
  }
  // It may have come to be before we watched.
  if (!changed()) return { stop }
  stop()
  return undefined
}

function exists(path: ByteString): boolean {
  try {
    return statSync(pathBytes(path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // What cannot be reached is as good as missing, whatever the reason.
    return false
  }
}
