import { contains, type IpAddress, type IpRange, parseAddress } from './ip-address.ts'

/** `loopback` is this machine, `metadata` where clouds hand out credentials. */
export type AddressKind = 'ordinary' | 'loopback' | 'link-local' | 'metadata' | 'multicast'

/** The first that matches counts. */
const KINDS: readonly [AddressKind, IpRange][] = [
  ['metadata', range('169.254.169.254', 32)],
  ['metadata', range('169.254.170.2', 32)],
  ['metadata', range('100.100.100.200', 32)],
  ['metadata', range('168.63.129.16', 32)],
  ['metadata', range('192.0.0.192', 32)],
  ['metadata', range('fd00:ec2::254', 128)],
  ['metadata', range('fd20:ce::254', 128)],
  ['loopback', range('127.0.0.0', 8)],
  // "Any address", which a system takes for its own.
  ['loopback', range('0.0.0.0', 8)],
  ['loopback', range('::', 127)],
  ['link-local', range('169.254.0.0', 16)],
  ['link-local', range('fe80::', 10)],
  ['multicast', range('224.0.0.0', 4)],
  ['multicast', range('255.255.255.255', 32)],
  ['multicast', range('ff00::', 8)],
]

/** Prefixes with an IPv4 address inside, and where: a gateway may take it out and go there. */
const TRANSLATED: readonly [IpRange, number][] = [
  [range('64:ff9b::', 96), 12],
  [range('64:ff9b:1::', 48), 12],
  [range('::ffff:0:0:0', 96), 12],
  [range('2002::', 16), 2],
  [range('::', 96), 12],
]

export function addressKind(address: IpAddress): AddressKind {
  const [kind] = KINDS.find(([, candidate]) => contains(candidate, address)) ?? []
  if (kind) return kind
  const [, offset] = TRANSLATED.find(([prefix]) => contains(prefix, address)) ?? []
  return offset === undefined ? 'ordinary' : addressKind(address.slice(offset, offset + 4))
}

function range(text: string, bits: number): IpRange {
  return { address: parseAddress(text)!, bits }
}
