import { type NetworkRule, strictest } from './rules/rule.ts'

/** Hosts for a managed network. What is in neither list is asked about, or blocked. */
export interface NetworkLists {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/**
 * The strictest rule for a host counts, whatever protocol it names: a proxy has one list for all of them. A host that is
 * to be asked about is in neither list.
 */
export function networkLists(rules: readonly NetworkRule[]): NetworkLists {
  const hosts = new Map<string, NetworkRule['decision']>()
  for (const { host, decision } of rules) hosts.set(host, strictest([hosts.get(host) ?? 'allow', decision]))
  const allow: string[] = []
  const deny: string[] = []
  for (const [host, decision] of hosts) {
    if (decision === 'allow') allow.push(host)
    if (decision === 'forbidden') deny.push(host)
  }
  return { allow, deny }
}
