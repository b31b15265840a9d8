import { resourceLimit, setResourceLimit } from '../libc.ts'

/**
 * Starts a child that leaves no image of its memory behind when it crashes: where that goes, and who looks at it, is not
 * decided in its sandbox.
 */
export function withoutCoreFiles<T extends { pid: number }>(spawn: () => T): T {
  const ours = resourceLimit('coreFile')
  const lower = ours.soft > 0n
  if (lower) setResourceLimit('coreFile', { soft: 0n, hard: ours.hard })
  try {
    const child = spawn()
    // So that it cannot be raised again. Ours could not be either, if we lowered that.
    setResourceLimit('coreFile', { soft: 0n, hard: 0n }, child.pid)
    return child
  } finally {
    if (lower) setResourceLimit('coreFile', ours)
  }
}
