import { describeHost, describeTarget, type NetworkTarget } from './network-target.ts'

/** By the reasons of the executor. */
const DETAILS: ReadonlyMap<string, string> = new Map([
  ['denied', 'a rule denies this host, and no approval can lift that'],
  ['not_allowed', 'no rule allows this host'],
  ['not_allowed_local', 'it is, or leads to, an address of the executor or of a private network'],
  ['method_not_allowed', 'only GET, HEAD and OPTIONS over plain HTTP are allowed'],
  ['proxy_disabled', 'the network is switched off for this command'],
])

/** What the executor blocked without asking anybody. */
export function blockedText(host: string, reason: string): string {
  if (host === '') return 'Network access was blocked by policy.'
  const detail = DETAILS.get(reason) ?? 'the network policy says no'
  return `Network access to "${describeHost(host)}" was blocked: ${detail}.`
}

export function blockedByPolicy(target: NetworkTarget): string {
  return `Network access to "${describeTarget(target)}" was blocked by policy.`
}

export function deniedText(target: NetworkTarget, why: string): string {
  return `Network access to "${describeTarget(target)}" was denied: ${why}`
}
