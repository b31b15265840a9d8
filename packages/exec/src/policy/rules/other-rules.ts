import { Arguments, kindOf } from '../language/arguments.ts'
import type { Call } from '../language/parser.ts'
import { excerpt, Refusal } from '../language/refusal.ts'
import { normalizedHost } from './network-host.ts'
import type { Decision, HostExecutable, NetworkProtocol, NetworkRule, Origin } from './rule.ts'

export function hostExecutable(call: Call, origin: Origin): HostExecutable {
  const args = new Arguments(call, { positional: ['name', 'paths'] })
  const name = args.string('name')
  if (name === '' || /[/\\]/.test(name) || name === '.' || name === '..') {
    throw new Refusal(args.offset('name'), `host_executable name must be a bare file name (got ${shown(name)})`)
  }
  args.required('paths')
  const paths = args.list('paths').map((item) => {
    if (item.kind !== 'string') throw new Refusal(item.offset, `\`paths\` is a list of strings (got ${kindOf(item)})`)
    const { value: path, offset } = item
    if (!path.startsWith('/')) throw new Refusal(offset, `host_executable paths must be absolute (got ${shown(path)})`)
    if (!path.endsWith(`/${name}`)) throw new Refusal(offset, `${shown(path)} does not end in the name \`${name}\``)
    return path
  })
  return { kind: 'host-executable', name, paths: [...new Set(paths)], origin }
}

const NETWORK_DECISIONS: Readonly<Record<string, Decision>> = {
  allow: 'allow',
  prompt: 'prompt',
  forbidden: 'forbidden',
  deny: 'forbidden',
}
const NETWORK_PROTOCOLS: Readonly<Record<string, NetworkProtocol>> = {
  http: 'http',
  https: 'https',
  https_connect: 'https',
  'http-connect': 'https',
  socks5_tcp: 'socks5_tcp',
  socks5_udp: 'socks5_udp',
}

export function networkRule(call: Call, origin: Origin): NetworkRule {
  const args = new Arguments(call, { positional: ['host', 'protocol', 'decision', 'justification'] })
  const normalized = normalizedHost(args.string('host'))
  if ('problem' in normalized) throw new Refusal(args.offset('host'), normalized.problem)
  const protocol = NETWORK_PROTOCOLS[args.word('protocol', Object.keys(NETWORK_PROTOCOLS))]!
  const decision = NETWORK_DECISIONS[args.word('decision', Object.keys(NETWORK_DECISIONS))]!
  const justification = args.justification()
  const { host } = normalized
  return { kind: 'network', host, protocol, decision, ...(justification !== undefined && { justification }), origin }
}

function shown(text: string): string {
  return JSON.stringify(excerpt(text))
}
