import { DecodeError, DomainSet, withoutPort } from '@waldo/protocol'

/** Far more than anybody writes, and still looked up at once. */
const MAX_PATTERNS = 10_000

/** What a proxy lets through, as one client has asked for one command. */
export interface ProxyRules {
  /** False: nothing. */
  readonly enabled: boolean
  readonly socks: boolean
  /** Only what reads, over plain HTTP, where that can be seen. */
  readonly limited: boolean
  /** Whether this machine and private networks are places like others, or have to be allowed by name. */
  readonly localAllowed: boolean
  readonly allowed: DomainSet
  readonly denied: DomainSet
  /** Somebody has to be asked, although they are allowed. */
  readonly reviewed: DomainSet
}

/**
 * Reads `networkProxy.proxy` of the wire. Throws a `DecodeError` when it is not what it should be, and when we would
 * have to leave out a part that opens something, or that keeps a secret, and that cannot be seen from inside.
 *
 * Two wishes are taken as permissions that we do not use: `enableSocks5Udp`, because a client that wants UDP is told
 * at once that there is none, and `allowUpstreamProxy`, because we go directly. Clients have both set by default.
 */
export function proxyRules(config: unknown): ProxyRules {
  const given = members(config, 'proxy')
  const enabled = flag(given, 'enabled')
  const socks = flag(given, 'enableSocks5')
  flag(given, 'enableSocks5Udp')
  flag(given, 'allowUpstreamProxy')
  const allSockets = flag(given, 'dangerouslyAllowAllUnixSockets')
  const limited = choice(given, 'mode', ['limited', 'full']) === 'limited'
  const localAllowed = flag(given, 'allowLocalBinding')
  const domains = permissions(given, 'domains', ['none', 'allow', 'deny'])
  const sockets = permissions(given, 'unixSockets', ['none', 'allow', 'deny'])
  if (allSockets || sockets.some(([, permission]) => permission === 'allow')) {
    throw new DecodeError('UNIX sockets cannot be reached through the proxy of this executor; allow none')
  }
  if (given.credentialMasking ?? false) throw unsupported('credentialMasking')
  if (Object.keys(members(given.credentialProviders ?? {}, 'credentialProviders')).length > 0) {
    throw unsupported('credentialProviders')
  }
  return { enabled, socks, limited, localAllowed, ...domainSets(domains), reviewed: reviewDomains(given.reviewDomains) }
}

function domainSets(domains: readonly [string, string][]): { allowed: DomainSet; denied: DomainSet } {
  const [allowed, denied] = [new DomainSet(), new DomainSet()]
  for (const [pattern, permission] of domains) {
    if (permission === 'allow') add(allowed, pattern)
    if (permission !== 'deny') continue
    if (pattern.trim() === '*') {
      throw new DecodeError('domains: "*" cannot be denied; what is not allowed is blocked anyway')
    }
    // Whoever denies one port of a host hardly means to let the others through.
    add(denied, pattern, withoutPort)
  }
  return { allowed, denied }
}

function reviewDomains(given: unknown): DomainSet {
  const reviewed = new DomainSet()
  if (given === undefined || given === null) return reviewed
  if (!Array.isArray(given) || given.length > MAX_PATTERNS || !given.every((item) => typeof item === 'string')) {
    throw new DecodeError(`reviewDomains: expected an array of at most ${MAX_PATTERNS} strings`)
  }
  for (const pattern of given) add(reviewed, pattern, withoutPort)
  return reviewed
}

function add(set: DomainSet, pattern: string, change: (pattern: string) => string = (same) => same): void {
  try {
    set.add(change(pattern))
  } catch (error) {
    throw new DecodeError(`domains: ${(error as Error).message}`)
  }
}

function members(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new DecodeError(value === undefined ? `missing field \`${name}\`` : `${name}: expected an object`)
}

function flag(given: Record<string, unknown>, name: string): boolean {
  const value = given[name]
  if (typeof value === 'boolean') return value
  throw new DecodeError(value === undefined ? `missing field \`${name}\`` : `${name}: expected a boolean`)
}

function choice(given: Record<string, unknown>, name: string, choices: readonly string[]): string {
  const value = given[name]
  if (value === undefined) throw new DecodeError(`missing field \`${name}\``)
  if (typeof value === 'string' && choices.includes(value)) return value
  throw new DecodeError(`${name}: expected one of ${choices.map((one) => `\`${one}\``).join(', ')}`)
}

function permissions(given: Record<string, unknown>, name: string, choices: readonly string[]): [string, string][] {
  const value = members(given[name] ?? {}, name)
  const keys = Object.keys(value)
  if (keys.length > MAX_PATTERNS) throw new DecodeError(`${name}: more than ${MAX_PATTERNS} entries`)
  return keys.map((key) => [key, choice(value, key, choices)])
}

function unsupported(name: string): DecodeError {
  return new DecodeError(`${name}: the proxy of this executor does not see into what it passes on; leave it out`)
}
