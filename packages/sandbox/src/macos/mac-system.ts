import { realpathSync } from 'node:fs'
import type { HostSystem } from '../this-host.ts'
import { MACOS_PLATFORM_DIRECTORIES } from './base-profile.ts'

/** Where the files of users really are: the same ones are known without it. */
const DATA_VOLUME = '/System/Volumes/Data'

/**
 * Most Macs take any spelling of a name for the same. Seatbelt does not: it compares rules with the spelling on disk, so
 * that a rule with another one would be about nothing.
 */
export const MAC_SYSTEM: HostSystem = {
  platformDirectories: MACOS_PLATFORM_DIRECTORIES,
  spell: (path) => {
    const real = realPathOf(path)
    // Anything but another spelling is a link that somebody has just put there, and must not be followed.
    return isSameName(real, path) || isSameName(`${DATA_VOLUME}${real}`, path) ? real : path
  },
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path // It has gone, or we may not look: then nobody in the sandbox may either.
  }
}

function isSameName(a: string, b: string): boolean {
  const [first, second] = [a, b].map((path) => path.normalize('NFC').toLowerCase())
  return first === second
}
