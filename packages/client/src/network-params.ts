import { ExecError, type ManagedNetwork } from '@waldo/environment'
import type { Capabilities, SandboxRequest } from '@waldo/protocol'

const DECIDE_MS = 60_000
/** Timers cannot wait longer. */
const MAX_DECIDE_MS = 2 ** 31 - 1

/** What `process/start` is sent about the network. Throws for what would not hold. */
export function networkParams(
  network: ManagedNetwork,
  sandbox: SandboxRequest | undefined,
  capabilities: Capabilities,
): object {
  if (!capabilities.networkProxyLaunch) {
    throw new ExecError('UNSUPPORTED', 'this executor cannot manage the network of a process')
  }
  const { enforce = sandbox !== undefined } = network
  // Some executors would start it all the same, and let it go where it likes.
  if (enforce && !sandbox) {
    throw new ExecError('REFUSED', 'a network is enforced in a sandbox only; give one, or say `enforce: false`')
  }
  const { domains = {} } = network
  const reviewDomains = Object.keys(domains).filter((pattern) => domains[pattern] === 'none')
  return {
    networkProxy: {
      proxy: {
        enabled: true,
        enableSocks5: network.enableSocks5 ?? true,
        enableSocks5Udp: false,
        allowUpstreamProxy: network.allowUpstreamProxy ?? false,
        dangerouslyAllowAllUnixSockets: false,
        mode: network.mode ?? 'full',
        allowLocalBinding: network.allowLocalBinding ?? false,
        domains,
        // A wider pattern may allow what is to be asked about.
        ...(reviewDomains.length > 0 && { reviewDomains }),
      },
      ...(network.decide && { policyDecisionTimeoutMs: decideMs(network) }),
    },
    enforceManagedNetwork: enforce,
  }
}

/** How long the one who decides may take. */
export function decideMs({ decideTimeoutMs = DECIDE_MS }: ManagedNetwork): number {
  if (Number.isInteger(decideTimeoutMs) && decideTimeoutMs > 0 && decideTimeoutMs <= MAX_DECIDE_MS) {
    return decideTimeoutMs
  }
  throw new ExecError(
    'REFUSED',
    `decideTimeoutMs: expected a whole number from 1 to ${MAX_DECIDE_MS}, got ${decideTimeoutMs}`,
  )
}
