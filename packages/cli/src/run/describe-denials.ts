import type { ExitVerdict } from '@waldo/environment'
import type { SandboxDenial } from '@waldo/protocol'

/** More would hide what the command itself has said. */
const MAX_LINES = 5

/** Why a command may have failed, for whoever wonders. */
export function describeDenials({ sandboxFailed, sandboxDenials = [] }: ExitVerdict): string[] {
  if (sandboxFailed) return ['the sandbox could not be made, and the command did not run']
  const lines = sandboxDenials.map(describe)
  const more = lines.length - MAX_LINES
  return more > 0 ? [...lines.slice(0, MAX_LINES), `the sandbox has refused ${more} more`] : lines
}

function describe({ kind, path, host, port, access, rule, confidence }: SandboxDenial): string {
  const what =
    kind === 'syscall'
      ? 'a system call'
      : kind === 'network'
        ? host === undefined
          ? 'the network'
          : `${host}${port === undefined ? '' : `:${port}`}`
        : `to ${access} ${path ?? 'a file'}`
  const certainty = confidence === 'possible' ? 'may have refused' : 'refused'
  return `the sandbox ${certainty} ${what} (${rule})`
}
