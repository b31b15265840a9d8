import type { NetworkRequest } from '@waldo/environment'
import { visibleText } from '../approvals/visible-text.ts'

/** Whom somebody wants to reach, from where. */
export interface NetworkTarget {
  readonly environmentId: string
  /** In lower case. */
  readonly host: string
  readonly protocol: NetworkRequest['protocol']
  readonly port: number
}

/** What programs speak behind the proxy's name for it. */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['http', 'http'],
  ['https_connect', 'https'],
  ['socks5_tcp', 'socks5'],
])

const MAX_SHOWN = 253

export function networkTarget(environmentId: string, { host, protocol, port }: NetworkRequest): NetworkTarget {
  return { environmentId, host: host.toLowerCase(), protocol, port }
}

export function schemeOf(protocol: NetworkRequest['protocol']): string {
  return SCHEMES.get(protocol) ?? 'unknown'
}

/** For people and models. The host comes from a process: it may hold anything. */
export function describeHost(host: string): string {
  return visibleText(host.slice(0, MAX_SHOWN))
}

/** `https://example.com:443` */
export function describeTarget({ protocol, host, port }: Omit<NetworkTarget, 'environmentId'>): string {
  const name = host.includes(':') ? `[${describeHost(host)}]` : describeHost(host)
  return `${schemeOf(protocol)}://${name}:${port}`
}
