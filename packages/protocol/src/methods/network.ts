import {
  array,
  boolean,
  type Decoded,
  object,
  oneOf,
  optional,
  plainObject,
  string,
  unsigned,
  withDefault,
} from '../decode.ts'

/** A proxy that the executor is to start for one process. */
export const networkProxy = object({
  /** Who builds the proxy knows what this may hold. */
  proxy: plainObject,
  auditMetadata: optional(plainObject),
  environmentId: optional(string),
  executionId: optional(string),
  /** Whoever asked wants to decide on what the rules do not allow, and takes at most so long. */
  policyDecisionTimeoutMs: optional(unsigned()),
})

/** Facts about a proxy that somebody else has started. */
export const managedNetwork = object({
  loopbackPorts: withDefault(array(unsigned(65_535)), []),
  allowLocalBinding: withDefault(boolean, false),
})

export interface NetworkPolicyRequest {
  processId: string
  request: { protocol: 'http' | 'https_connect' | 'socks5_tcp'; host: string; port: number }
}

const decision = object({
  decision: (value: unknown) => {
    const { type } = object({ type: oneOf('allow', 'deny', 'ask') })(value)
    return type === 'allow' ? { type } : { type, reason: object({ reason: string })(value).reason }
  },
})
/** The client's answer to `network/policyRequest`. */
export const networkPolicyResult = decision
export type NetworkPolicyResult = Decoded<typeof decision>
