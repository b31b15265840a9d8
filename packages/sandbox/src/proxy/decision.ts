export type NetworkProtocol = 'http' | 'https_connect' | 'socks5_tcp'

/** Put to the decider when no rule allows what a command wants, and none forbids it. */
export interface NetworkQuestion {
  readonly protocol: NetworkProtocol
  readonly host: string
  readonly port: number
}

export type NetworkAnswer =
  | { readonly type: 'allow' }
  /** `ask` blocks as well: somebody would have to be asked, and could not be. */
  | { readonly type: 'deny' | 'ask'; readonly reason: string }

/** A rejection is a denial. `signal` aborts when nobody waits for the answer any more. */
export type Decider = (question: NetworkQuestion, signal: AbortSignal) => Promise<NetworkAnswer>

/** What was decided about one request, as the wire has it (`network/policyDecision`, but for the process). */
export interface NetworkDecision {
  readonly timestamp: string
  /** Whether it was about the host, or about anything else. */
  readonly scope: 'domain' | 'non_domain'
  readonly decision: 'allow' | 'deny' | 'ask'
  readonly source: 'baseline_policy' | 'mode_guard' | 'proxy_state' | 'decider'
  /** One of ours (`not_allowed`, …), or what the decider has said. */
  readonly reason: string
  readonly protocol: NetworkProtocol
  readonly host: string
  readonly port: number
  readonly method?: string
  /** The address of the client, inside its network. */
  readonly client?: string
  /** The decider has allowed what no rule allows. */
  readonly policyOverride: boolean
}

const MAX_REASON_BYTES = 1024

/** A reason from outside, if it can be shown and passed on. */
export function usableReason(reason: unknown): string {
  if (reason === '') return 'policy_denied'
  const usable = typeof reason === 'string' && Buffer.byteLength(reason) <= MAX_REASON_BYTES && !/\p{Cc}/u.test(reason)
  return usable ? reason : 'not_allowed'
}
