import { existsSync, lstatSync } from 'node:fs'
import { parentOf } from '../policy/posix-path.ts'
import type { ThisHost } from '../this-host.ts'

/** Where the kernel tells root what it does, once somebody has mounted it. */
const MOUNTED = ['/sys/kernel/tracing', '/sys/kernel/debug']
/** Which machine it is, to the serial number. */
const ALWAYS = ['/sys/firmware/dmi/tables']

/** What root may read without any capability, and no command has to. For others the kernel keeps it to itself. */
export function kernelDirectories(facts: Pick<ThisHost, 'kindOf'>): { path: string; isDirectory: boolean }[] {
  if (process.getuid?.() !== 0) return []
  // The facts are asked, and know from now on when something else is mounted there.
  const mounted = MOUNTED.filter((path) => facts.kindOf(path) === 'directory' && isMountPoint(path))
  return [...mounted, ...ALWAYS.filter((path) => existsSync(path))].map((path) => ({ path, isDirectory: true }))
}

function isMountPoint(path: string): boolean {
  return lstatSync(path).dev !== lstatSync(parentOf(path)).dev
}
