import type { NetworkPolicyRequest } from '@waldo/protocol'

/** What a process wants to reach. */
export type NetworkRequest = Readonly<NetworkPolicyRequest['request']>

/** The reason is told to the process, and to `onDecision`. */
export type NetworkVerdict = 'allow' | { readonly deny: string }

/** What was decided about one request, by a rule or by `decide`. */
export interface NetworkDecision extends NetworkRequest {
  readonly timestamp: string
  /** `ask`: somebody would have to be asked, and could not be. It is blocked. */
  readonly decision: 'allow' | 'deny' | 'ask'
  /** Whether it was about the host, or about anything else. */
  readonly scope: 'domain' | 'non_domain'
  readonly source: 'baseline_policy' | 'mode_guard' | 'proxy_state' | 'decider'
  readonly reason: string
  /** Of HTTP, where it can be seen. */
  readonly method?: string
  /** `decide` has allowed what no rule allows. */
  readonly policyOverride: boolean
}

/**
 * A network with nobody in it but a proxy, which lets through what is allowed here. It is the executor's: what is
 * reached is reached from there.
 */
export interface ManagedNetwork {
  /**
   * By pattern: `example.com`, `*.example.com` for all below it, `**.example.com` for both, `*` for everybody; each with a
   * port (`example.com:8080`) or without. What is denied stays so; what is not named, or is `none` here
   * although a wider pattern allows it, is blocked unless `decide` allows it.
   */
  readonly domains?: Readonly<Record<string, 'allow' | 'deny' | 'none'>> | undefined
  /** `limited`: only what reads, over plain HTTP, where that can be seen. `full` if nothing is said. */
  readonly mode?: 'full' | 'limited' | undefined
  /** Whether the executor itself and private networks are places like others, or have to be allowed by their names. */
  readonly allowLocalBinding?: boolean | undefined
  /** Whether the proxy talks SOCKS5 as well as HTTP. It does if nothing is said. */
  readonly enableSocks5?: boolean | undefined
  /** Whether the proxy may use another one that the executor itself is told to use. */
  readonly allowUpstreamProxy?: boolean | undefined
  /**
   * Whether the process has no other way out. That takes a sandbox, and goes without saying in one. Without, the process
   * is told of the proxy, and may ignore it.
   */
  readonly enforce?: boolean | undefined
  /**
   * Asked about what no rule allows or denies. The request waits. To throw, to answer anything else and to take too long
   * all mean no; so does a connection that is lost meanwhile. `signal` aborts when nobody waits for the answer any more.
   */
  readonly decide?:
    | ((request: NetworkRequest, signal: AbortSignal) => NetworkVerdict | Promise<NetworkVerdict>)
    | undefined
  /** How long `decide` may take; a minute if nothing is said. */
  readonly decideTimeoutMs?: number | undefined
  /** Told of every decision, as far as there is a connection to tell it on. */
  readonly onDecision?: ((decision: NetworkDecision) => void) | undefined
}
