/** From the most lenient to the strictest. */
export const DECISIONS = ['allow', 'prompt', 'forbidden'] as const
export type Decision = (typeof DECISIONS)[number]

export function strictest(decisions: Iterable<Decision>): Decision {
  let found: Decision = 'allow'
  for (const decision of decisions) if (DECISIONS.indexOf(decision) > DECISIONS.indexOf(found)) found = decision
  return found
}

/** Where a rule is written. */
export interface Origin {
  readonly layer: string
  readonly file: string
  /** Undefined for what was saved since the files were read. */
  readonly line?: number
}

export function shownOrigin({ file, line }: Origin): string {
  return line === undefined ? file : `${file}:${line}`
}

/** What commands that begin with certain words need. */
export interface PrefixRule {
  readonly kind: 'prefix'
  /** For each word, what it may be. */
  readonly pattern: readonly (readonly string[])[]
  readonly decision: Decision
  readonly justification?: string
  /** Of an allow rule: whether the sandbox stays. */
  readonly sandbox: 'keep' | 'bypass'
  /** Of an allow rule: variables that may be set before the command, with `*` for any part of a name. */
  readonly env: readonly string[]
  /** Of an allow rule: where the command may read from or write to, such as `> build/*`. */
  readonly redirects: readonly string[]
  readonly origin: Origin
}

/** Which files are meant by the bare name of a program, for allow rules. */
export interface HostExecutable {
  readonly kind: 'host-executable'
  readonly name: string
  readonly paths: readonly string[]
  readonly origin: Origin
}

export type NetworkProtocol = 'http' | 'https' | 'socks5_tcp' | 'socks5_udp'
/** As rules may have it: proxies call `https` by what they see of it. */
export type WrittenProtocol = NetworkProtocol | 'https_connect' | 'http-connect'

export interface NetworkRule {
  readonly kind: 'network'
  readonly host: string
  readonly protocol: NetworkProtocol
  readonly decision: Decision
  readonly justification?: string
  readonly origin: Origin
}

export type Rule = PrefixRule | HostExecutable | NetworkRule
