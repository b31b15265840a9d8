import { contains, type IpAddress, type IpRange, METADATA, range, TRANSLATED } from '@waldo/sandbox/addresses'

/** `loopback` is this machine, `metadata` where clouds hand out credentials. */
export type AddressKind = 'ordinary' | 'loopback' | 'link-local' | 'metadata' | 'multicast'

/** The first that matches counts. */
const KINDS: readonly (readonly [AddressKind, IpRange])[] = [
  ...METADATA.map((each) => ['metadata', each] as const),
  ['loopback', range('127.0.0.0/8')],
  // "Any address", which a system takes for its own.
  ['loopback', range('0.0.0.0/8')],
  ['loopback', range('::/127')],
  ['link-local', range('169.254.0.0/16')],
  ['link-local', range('fe80::/10')],
  ['multicast', range('224.0.0.0/4')],
  ['multicast', range('255.255.255.255/32')],
  ['multicast', range('ff00::/8')],
]

export function addressKind(address: IpAddress): AddressKind {
  const [kind] = KINDS.find(([, candidate]) => contains(candidate, address)) ?? []
  if (kind) return kind
  const [, offset] = TRANSLATED.find(([prefix]) => contains(prefix, address)) ?? []
  return offset === undefined ? 'ordinary' : addressKind(address.slice(offset, offset + 4))
}
