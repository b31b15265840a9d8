import { type ArgumentTest, EPERM, type Rule } from './rule.ts'

/** `restricted`: none at all. `proxy`: TCP, in a namespace where only our proxy listens. `enabled`: that of the host. */
export type SeccompNetwork = 'restricted' | 'proxy' | 'enabled'

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16

/** The rest of the word are flags. */
const SOCK_TYPE_MASK = 0xf
const SOCK_STREAM = 1
const SOCK_SEQPACKET = 5
const SOCK_PACKET = 10

const IPPROTO_DEFAULT = 0
const IPPROTO_TCP = 6

const family = (...values: number[]): ArgumentTest => ({ argument: 0, is: 'oneOf', values })
const type = (...values: number[]): ArgumentTest => ({ argument: 1, is: 'oneOf', values, mask: SOCK_TYPE_MASK })

/**
 * Pairs are how Node, Python and others talk to their children. But a datagram socket of a pair can also send to any
 * socket file in sight, those of the host included, with an address in memory where a filter cannot see it.
 */
const pairsThatStayPairs: Rule = {
  errno: EPERM,
  calls: ['socketpair'],
  onlyIf: [family(AF_UNIX), type(SOCK_STREAM, SOCK_SEQPACKET)],
}

export const networkRules: Record<SeccompNetwork, readonly Rule[]> = {
  restricted: [
    // UNIX sockets too: a socket file connects to whoever listens on it, across network namespaces and read-only mounts.
    {
      errno: EPERM,
      calls: ['socket', 'connect', 'bind', 'listen', 'accept', 'accept4', 'sendmmsg', 'recvmmsg'],
    },
    pairsThatStayPairs,
    // The C library's `send` is this call without an address.
    { errno: EPERM, calls: ['sendto'], onlyIf: [{ argument: 4, is: 'null' }] },
  ],
  proxy: [
    {
      errno: EPERM,
      calls: ['socket'],
      // Other protocols are streams as well (SCTP, MPTCP, SMC), and the kernel would load them for us.
      onlyIf: [
        family(AF_INET, AF_INET6),
        type(SOCK_STREAM),
        { argument: 2, is: 'oneOf', values: [IPPROTO_DEFAULT, IPPROTO_TCP] },
      ],
    },
    pairsThatStayPairs,
  ],
  enabled: [
    {
      errno: EPERM,
      calls: ['socket'],
      onlyIf: [
        // Netlink tells programs which interfaces there are. Not AF_VSOCK above all: it leads to the host of a virtual
        // machine whatever the network namespace is.
        family(AF_UNIX, AF_INET, AF_INET6, AF_NETLINK),
        // With AF_INET the kernel takes this for AF_PACKET.
        { argument: 1, is: 'noneOf', values: [SOCK_PACKET], mask: SOCK_TYPE_MASK },
      ],
    },
    // Only UNIX sockets come in pairs, but the kernel would load the driver of any family to find that out.
    { errno: EPERM, calls: ['socketpair'], onlyIf: [family(AF_UNIX)] },
  ],
}
