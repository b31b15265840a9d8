import { Arguments } from '../language/arguments.ts'
import type { Call } from '../language/parser.ts'
import { Refusal } from '../language/refusal.ts'
import { ruleHost } from './network-host.ts'
import type { Decision, NetworkProtocol, NetworkRule, Origin, WrittenProtocol } from './rule.ts'

const NETWORK_DECISIONS: Readonly<Record<string, Decision>> = {
  allow: 'allow',
  prompt: 'prompt',
  forbidden: 'forbidden',
  deny: 'forbidden',
}
const NETWORK_PROTOCOLS: Readonly<Record<WrittenProtocol, NetworkProtocol>> = {
  http: 'http',
  https: 'https',
  https_connect: 'https',
  'http-connect': 'https',
  socks5_tcp: 'socks5_tcp',
  socks5_udp: 'socks5_udp',
}

export function networkRule(call: Call, origin: Origin): NetworkRule {
  const args = new Arguments(call, { positional: ['host', 'protocol', 'decision', 'justification'] })
  const read = ruleHost(args.string('host'))
  if ('problem' in read) throw new Refusal(args.offset('host'), read.problem)
  const protocol = NETWORK_PROTOCOLS[args.word('protocol', Object.keys(NETWORK_PROTOCOLS) as WrittenProtocol[])]
  const decision = NETWORK_DECISIONS[args.word('decision', Object.keys(NETWORK_DECISIONS))]!
  const justification = args.justification()
  const { host } = read
  return { kind: 'network', host, protocol, decision, ...(justification !== undefined && { justification }), origin }
}
