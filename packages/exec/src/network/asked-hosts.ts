import type { ManagedNetwork } from '@waldo/environment'
import { canonicalHost, DomainSet, withoutPort } from '@waldo/protocol'
import type { NetworkTarget } from './network-target.ts'

/**
 * Whether this host is to be asked about, although another pattern may allow it. No saved rule silences that: of what is
 * said about a host, the strictest counts. Matches as the executor's proxy does, for all ports of what is named with
 * one. Throws for a pattern that is none, as the executor refuses it.
 */
export function isAskedAbout({ host, port }: NetworkTarget, domains: ManagedNetwork['domains']): boolean {
  const asked = new DomainSet()
  for (const [pattern, verdict] of Object.entries(domains ?? {}))
    if (verdict === 'none') asked.add(withoutPort(pattern))
  return asked.has(canonicalHost(host) ?? host, port)
}
