import type { ManagedNetwork } from '@waldo/environment'
import type { NetworkTarget } from './network-target.ts'

/**
 * Whether this very host is to be asked about, although a wider pattern may allow it. No saved rule silences that: of
 * what is said about a host, the strictest counts.
 */
export function isAskedAbout({ host, port }: NetworkTarget, domains: ManagedNetwork['domains']): boolean {
  const names = [host, `${host}:${port}`]
  return Object.entries(domains ?? {}).some(
    ([pattern, verdict]) => verdict === 'none' && names.includes(pattern.trim().toLowerCase()),
  )
}
