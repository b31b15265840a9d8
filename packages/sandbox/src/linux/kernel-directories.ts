import { lstatSync } from 'node:fs'
import { parentOf } from '../policy/posix-path.ts'
import type { ThisHost } from '../this-host.ts'

/** Where the kernel tells root what it does, once somebody has mounted it. */
const MOUNTED = ['/sys/kernel/tracing', '/sys/kernel/debug']
/** Which machine it is, to the serial number. */
const ALWAYS = ['/sys/firmware/dmi/tables']

/** What root may read without any capability, and no command has to. For others the kernel keeps it to itself. */
export function kernelDirectories(facts: Pick<ThisHost, 'resolve'>): { path: string; isDirectory: boolean }[] {
  if (process.getuid?.() !== 0) return []
  // All of them are asked for: when something is mounted there later on, the facts are no longer what they were.
  const found = [...MOUNTED, ...ALWAYS].map((path) => facts.resolve(path))
  return found.filter(({ path, exists }) => exists && (!MOUNTED.includes(path) || isMountPoint(path)))
}

function isMountPoint(path: string): boolean {
  return lstatSync(path).dev !== lstatSync(parentOf(path)).dev
}
