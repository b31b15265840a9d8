import { lstatSync, readdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Probe } from './probe.ts'

const SETTINGS = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/vm/swappiness',
  ...['user', 'mnt', 'pid', 'net', 'ipc'].map((kind) => `/proc/sys/user/max_${kind}_namespaces`),
  '/sys/kernel/mm/transparent_hugepage/enabled',
]
const CGROUPS = '/sys/fs/cgroup'

/**
 * What belongs to the machine itself, and a probe that succeeds could change: settings of the kernel, and files in fixed
 * places. Both are known from the texts of the probes.
 */
export class HostState {
  readonly #settings = new Map<string, string>()
  readonly #absent: string[]

  constructor(probes: readonly Probe[]) {
    const text = JSON.stringify(probes)
    for (const file of [...SETTINGS, ...(text.match(/\/(?:proc\/sys|sys)\/[\w/.-]+/g) ?? [])]) {
      const value = readSetting(file)
      if (value !== undefined) this.#settings.set(file, value)
    }
    const fixed = text.match(/\/(?:etc|tmp|root|home|usr|var|dev)\/[\w/.-]*sbx-?probe[\w.-]*/g) ?? []
    const expected = probes
      .flatMap(({ expect }) => expect.host ?? [])
      .flatMap(({ path, exists }) => (exists === false && path?.startsWith('/') ? [path] : []))
    const groups = [CGROUPS, ...directoriesIn(CGROUPS)].map((directory) => join(directory, 'sbxprobe'))
    this.#absent = [...new Set([...fixed, ...expected, ...groups])].filter((file) => !isThere(file))
  }

  /** Puts back what has changed, and says what that was. */
  restore(): string[] {
    const told: string[] = []
    for (const [file, before] of this.#settings) {
      const now = readSetting(file)
      if (now === before) continue
      told.push(`${file} was changed from "${before}" to "${now}"`)
      // Where there is a choice, the chosen word is in brackets.
      writeFileSync(file, /\[(\w+)\]/.exec(before)?.[1] ?? before)
      if (readSetting(file) !== before) throw new Error(`${file} IS CHANGED and could not be put back to "${before}"`)
    }
    for (const file of this.#absent.filter(isThere)) {
      told.push(`${file} appeared on the host`)
      // An empty directory, or one file: nothing here removes trees of the host.
      if (lstatSync(file).isDirectory()) rmdirSync(file)
      else unlinkSync(file)
    }
    return told
  }
}

function readSetting(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'utf8').trim() : undefined
  } catch {
    // Not on this kernel, or only to be written to.
    return undefined
  }
}

function directoriesIn(parent: string): string[] {
  if (!isThere(parent)) return []
  const entries = readdirSync(parent, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(parent, entry.name))
}

const isThere = (file: string) => lstatSync(file, { throwIfNoEntry: false }) !== undefined
