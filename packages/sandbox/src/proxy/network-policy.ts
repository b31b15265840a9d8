import { isIP } from 'node:net'
import { canonicalHost } from '@waldo/protocol'
import { type AddressKind, addressKind } from './address-kind.ts'
import { type Decider, type NetworkDecision, type NetworkQuestion, usableReason } from './decision.ts'
import { isLocalName } from './local-name.ts'
import type { Resolver } from './resolver.ts'
import type { ProxyRules } from './rules.ts'

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface NetworkRequest extends NetworkQuestion {
  /** In its canonical spelling. */
  readonly host: string
  /** Of HTTP. */
  readonly method?: string
  readonly client?: string
}

/** What is allowed goes to one of these addresses, and to no other: the name has been looked up for good. */
export type Verdict =
  | { readonly allowed: true; readonly addresses: readonly string[] }
  | { readonly allowed: false; readonly decision: NetworkDecision }

export interface NetworkPolicyOptions {
  readonly rules: ProxyRules
  readonly resolver: Resolver
  readonly decide: Decider | undefined
  readonly decideMs: number
  /** Hears of every decision. */
  readonly onDecision: (decision: NetworkDecision) => void
}

type Ruling = Pick<NetworkDecision, 'decision' | 'source' | 'reason'>
const ALLOWED: Ruling = { decision: 'allow', source: 'baseline_policy', reason: 'allow' }
const blocked = (reason: string, source: Ruling['source'] = 'baseline_policy'): Ruling => ({
  decision: 'deny',
  source,
  reason,
})

/**
 * Decides who may be talked to: whoever is allowed and not denied, but this machine and private networks only when
 * they are allowed by name, or all of them are.
 *
 * A name is looked up after it has been allowed, never before: who runs its name server would read whatever a command
 * writes into it.
 */
export class NetworkPolicy {
  readonly #options: NetworkPolicyOptions

  constructor(options: NetworkPolicyOptions) {
    this.#options = options
  }

  /** Throws an `UnreachableError` if it is allowed, but nobody knows where it is; and when `signal` aborts. */
  async judge(request: NetworkRequest, signal: AbortSignal): Promise<Verdict> {
    signal.throwIfAborted()
    const ruling = this.#ruleOut(request) ?? (await this.#ask(request, signal))
    signal.throwIfAborted()
    if (ruling.decision !== 'allow') return this.#block(request, ruling)
    let addresses: readonly string[]
    try {
      addresses = await this.#addresses(request.host, signal)
    } catch (error) {
      this.#report(request, ruling)
      throw error
    }
    // All of them: which one is dialled must not be a matter of luck.
    if (!isKnown(request.host) && !addresses.every((address) => this.#mayLeadTo(addressKind(address)))) {
      return this.#block(request, blocked('not_allowed_local'))
    }
    const { denied } = this.#options.rules
    if (addresses.some((address) => denied.has(canonicalHost(address) ?? address, request.port))) {
      return this.#block(request, blocked('denied'))
    }
    this.#report(request, ruling)
    return { allowed: true, addresses }
  }

  /** Undefined if it is for somebody else to decide. */
  #ruleOut({ protocol, host, port, method }: NetworkRequest): Ruling | undefined {
    const { enabled, limited, allowed, denied, reviewed } = this.#options.rules
    if (!enabled) return blocked('proxy_disabled', 'proxy_state')
    if (limited && (protocol !== 'http' || !READING.has(method ?? '')))
      return blocked('method_not_allowed', 'mode_guard')
    if (denied.has(host, port)) return blocked('denied')
    const kind = isIP(host) ? addressKind(host) : isLocalName(host) ? 'local' : 'public'
    if (!this.#mayLeadTo(kind) && !allowed.names(host, port)) return blocked('not_allowed_local')
    if (allowed.has(host, port) && !reviewed.has(host, port)) return ALLOWED
    return this.#options.decide ? undefined : blocked('not_allowed')
  }

  #mayLeadTo(kind: AddressKind): boolean {
    return kind === 'public' || (kind === 'local' && this.#options.rules.localAllowed)
  }

  async #ask({ protocol, host, port }: NetworkRequest, signal: AbortSignal): Promise<Ruling> {
    const { decide, decideMs } = this.#options
    const asked = new AbortController()
    const abort = () => asked.abort(new Error('nobody waits for the answer any more'))
    const timer = setTimeout(abort, decideMs)
    signal.addEventListener('abort', abort, { once: true })
    const gaveUp = new Promise<never>((_, reject) => {
      asked.signal.addEventListener('abort', () => reject(asked.signal.reason), { once: true })
    })
    try {
      const answer = await Promise.race([decide!({ protocol, host, port }, asked.signal), gaveUp])
      if (answer.type === 'allow') return { decision: 'allow', source: 'decider', reason: 'not_allowed' }
      const decision = answer.type === 'ask' ? 'ask' : 'deny'
      return { decision, source: 'decider', reason: usableReason(answer.reason) }
    } catch {
      // Whoever cannot be asked has not allowed it.
      return blocked('not_allowed', 'decider')
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  async #addresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    if (!isKnown(host)) return this.#options.resolver.addresses(host, signal)
    return isLocalName(host) ? ['127.0.0.1', '::1'] : [host]
  }

  #block(request: NetworkRequest, ruling: Ruling): Verdict {
    return { allowed: false, decision: this.#report(request, ruling) }
  }

  #report({ protocol, host, port, method, client }: NetworkRequest, ruling: Ruling): NetworkDecision {
    const aboutHost = ruling.source === 'baseline_policy' || ruling.source === 'decider'
    const decision: NetworkDecision = {
      timestamp: new Date().toISOString(),
      scope: aboutHost ? 'domain' : 'non_domain',
      ...ruling,
      protocol,
      host,
      port,
      ...(method === undefined ? {} : { method }),
      ...(client === undefined ? {} : { client }),
      policyOverride: ruling.source === 'decider' && ruling.decision === 'allow',
    }
    this.#options.onDecision(decision)
    return decision
  }
}

/** Whether it leads to the same place for everybody, without being looked up. */
function isKnown(host: string): boolean {
  return isIP(host) !== 0 || isLocalName(host)
}
