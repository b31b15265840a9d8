import type { Policy } from '../policy/bind-policy.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { DEVICE_CLAUSES, NETWORK_CLAUSES, PREFERENCE_CLAUSES, PROCESS_CLAUSES } from './base-profile.ts'
import { type Exceptions, fileClauses } from './file-clauses.ts'
import { ProfileParameters } from './profile-parameters.ts'

export interface SeatbeltProfile {
  readonly profile: string
  /** What the profile calls by name. */
  readonly parameters: Readonly<Record<string, string>>
}

export interface SeatbeltOptions extends Partial<Exceptions> {
  /** Is in the system's log beside everything that was denied: letters, digits, `.`, `_` and `-`. */
  readonly tag: string
  /** If given, the network is these ports of this machine, whatever else the policy says. */
  readonly proxyPorts?: readonly number[]
}

/** All of it is passed as arguments, of which the system takes a megabyte together with the environment. */
const MAX_SIZE = 256 * 1024

/** The policy in the language of Seatbelt. Throws a `PolicyError` if that cannot say it. */
export function seatbeltProfile(
  policy: Policy,
  { tag, proxyPorts, hidden = [], own = [] }: SeatbeltOptions,
): SeatbeltProfile {
  if (!/^[\w.-]{1,64}$/.test(tag)) throw new PolicyError('unenforceable', `${JSON.stringify(tag)} is no tag for a log`)
  const parameters = new ProfileParameters()
  const profile = [
    '(version 1)',
    `(deny default (with message "${tag}"))`,
    ...PROCESS_CLAUSES,
    ...fileClauses(policy.files, { hidden, own }, parameters),
    ...DEVICE_CLAUSES,
    ...(policy.files === undefined || policy.files.readsEverything ? PREFERENCE_CLAUSES : []),
    ...(proxyPorts?.map(proxyClause) ?? networkClauses(policy, hidden, parameters)),
    '',
  ].join('\n')
  const { values } = parameters
  const size = Buffer.byteLength(profile) + Buffer.byteLength(JSON.stringify(values))
  if (size > MAX_SIZE) {
    throw new PolicyError('unenforceable', `the profile is too large for macOS: ${size} bytes, at most ${MAX_SIZE}`)
  }
  return { profile, parameters: values }
}

function networkClauses({ network }: Policy, hidden: readonly string[], parameters: ProfileParameters): string[] {
  if (network === 'restricted') return []
  // To connect to a socket is no matter of files to Seatbelt, though it is found by its path.
  const sockets = hidden.map((path) => `(remote unix-socket (subpath ${parameters.reference(path)}))`)
  return [...NETWORK_CLAUSES, ...sockets.map((socket) => `(deny network-outbound ${socket})`)]
}

function proxyClause(port: number): string {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new PolicyError('unenforceable', `${port} is not a port that a proxy can listen on`)
  }
  return `(allow network-outbound (remote ip "localhost:${port}"))`
}
