import type { Probe } from './probe.ts'
import { namespaceOf } from './processes.ts'

/** They kill everything they can see, or change mounts. */
const HARMFUL_WORDS = /\bkill\b[^;|&]*\s-1\b|\bu?mount2?\s*\(|\bu?mount\s|pivot_root|\breboot\b/

export const isHarmful = (probe: Probe) => probe.harmful ?? HARMFUL_WORDS.test(probe.command?.join(' ') ?? '')

/** Whether the command ran at all, and what its guard said. */
export interface Guarded {
  readonly ran: boolean
  readonly unconfined: boolean
  readonly withoutProxy: boolean
  /** What the command itself printed. */
  readonly output: string
}

const MARK = 'sbx-probe-runs'

/**
 * A shell around the command that says first that it runs: a sandbox in which nothing starts is not one from which nothing
 * escapes. A harmful command is run only in namespaces that are neither ours nor the server's, and where a proxy is to be
 * tried there has to be one.
 */
export function guard(probe: Probe, argv: readonly string[], serverPid: number): string[] {
  const lines = [`echo ${MARK}`]
  if (isHarmful(probe)) {
    for (const kind of ['pid', 'mnt'] as const) {
      const host = [namespaceOf('self', kind), namespaceOf(serverPid, kind)].map((name) => `'${name}'`)
      const shared = `''|${host.join('|')}`
      lines.push(`case "$(readlink /proc/self/ns/${kind})" in ${shared}) echo ${MARK}-unconfined; exit 0;; esac`)
    }
  }
  if (probe.profile === 'proxy') lines.push(`[ -n "$HTTP_PROXY" ] || echo ${MARK}-noproxy`)
  lines.push('exec "$@"')
  return ['/bin/sh', '-c', lines.join('\n'), 'probe', ...argv]
}

export function readGuarded(output: string): Guarded {
  return {
    ran: output.includes(MARK),
    unconfined: output.includes(`${MARK}-unconfined`),
    withoutProxy: output.includes(`${MARK}-noproxy`),
    output: output.replace(new RegExp(`${MARK}[-a-z]*\\r?\\n`, 'g'), ''),
  }
}
