import type { Socket } from 'node:net'
import type { Incoming } from './incoming.ts'
import type { ProxyLimits } from './limits.ts'
import type { NetworkPolicy } from './network-policy.ts'

/** One client of the proxy, and what is needed to serve it. */
export interface ProxyConnection {
  readonly client: Socket
  readonly clientAddress: string
  /** What it has said, and says. */
  readonly incoming: Incoming
  readonly policy: NetworkPolicy
  readonly limits: ProxyLimits
  /** Aborts when the client is gone, or the proxy closes. */
  readonly signal: AbortSignal
}
