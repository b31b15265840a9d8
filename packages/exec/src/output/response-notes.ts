import type { SandboxDenial } from '@waldo/protocol'
import { truncateMiddle } from './truncate-middle.ts'

/** A note is a hint, not a second output. */
const NOTE_MAX_BYTES = 1000
/** How many denials one answer tells of. */
const DENIALS_SHOWN = 5

export function endedByHarness(reason: string): string {
  return `Process was ended by the harness: ${reason}`
}

export function endedBySignal(signal: string): string {
  return `Process was ended by ${signal}`
}

export function connectionLost(reason: string): string {
  return `Process was lost with the connection to it: ${reason}. Whether it goes on is not known`
}

/** What a sandbox did not let it do, in one line for files and system calls and one for the network. */
export function denialNotes(denials: readonly SandboxDenial[]): string[] {
  const network = denials.filter(({ kind }) => kind === 'network')
  const others = denials.filter(({ kind }) => kind !== 'network')
  return [
    ...(others.length > 0 ? [`Sandbox: denied ${listed(others)}`] : []),
    ...(network.length > 0 ? [`Network: blocked ${listed(network)}`] : []),
  ]
}

export function retryRejected(reason: string): string {
  return `Another attempt, without sandbox, was rejected: ${reason}`
}

export function warning(text: string): string {
  return `Warning: ${text}`
}

export function manyProcessesWarning(open: number, max: number): string {
  return warning(
    `${open} processes are open and at most ${max} are kept. End those that are no longer needed, or the one that was not used for longest is ended`,
  )
}

export function clampedYieldWarning(requestedMs: number, usedMs: number): string {
  return warning(`yield_time_ms ${requestedMs} is out of range: ${usedMs} was used`)
}

/** A note cannot pretend to be another line, nor crowd out the output. */
export function oneLine(note: string): string {
  const cut = truncateMiddle(note, { kind: 'bytes', limit: NOTE_MAX_BYTES })
  return cut.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

function listed(denials: readonly SandboxDenial[]): string {
  const shown = denials.slice(0, DENIALS_SHOWN).map(described)
  if (denials.length > shown.length) shown.push(`${denials.length - shown.length} more`)
  return shown.join(', ')
}

function described({ kind, access, path, host, port, rule }: SandboxDenial): string {
  const target = host === undefined ? path : port === undefined ? host : `${host}:${port}`
  const what = kind === 'network' ? [target] : [access ?? (kind === 'syscall' ? 'system call' : undefined), target]
  return `${what.filter((word) => word !== undefined).join(' ') || kind} (${rule})`
}
