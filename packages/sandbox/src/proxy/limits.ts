/** How much one proxy takes upon itself for one command. */
export interface ProxyLimits {
  /** At the same time. Each has one question to the decider, one dial and one exchange at most. */
  readonly connections: number
  /** For the head of a request, or the greeting of SOCKS. */
  readonly headMs: number
  readonly lookupMs: number
  readonly dialMs: number
  /** For the one who decides about what no rule allows. */
  readonly decideMs: number
  /** For a connection on which nothing moves. */
  readonly idleMs: number
}

export const LIMITS: ProxyLimits = {
  connections: 256,
  headMs: 30_000,
  lookupMs: 2_000,
  dialMs: 10_000,
  decideMs: 10 * 60_000,
  idleMs: 10 * 60_000,
}
