import { type NetworkRule, strictest } from './rules/rule.ts'

/** Hosts for a managed network. For what is in none of the lists, its own settings hold. */
export interface NetworkLists {
  readonly allow: readonly string[]
  /** Asked about each time, also where a wider setting would allow them. */
  readonly ask: readonly string[]
  readonly deny: readonly string[]
}

/** The strictest rule for a host counts, whatever protocol it names: a proxy has one list for all of them. */
export function networkLists(rules: readonly NetworkRule[]): NetworkLists {
  const hosts = new Map<string, NetworkRule['decision']>()
  for (const { host, decision } of rules) hosts.set(host, strictest([hosts.get(host) ?? 'allow', decision]))
  const having = (wanted: NetworkRule['decision']) =>
    [...hosts].flatMap(([host, decision]) => (decision === wanted ? [host] : []))
  return { allow: having('allow'), ask: having('prompt'), deny: having('forbidden') }
}
