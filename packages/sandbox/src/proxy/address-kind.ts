import { networkInterfaces } from 'node:os'
import { contains, type IpAddress, type IpRange, parseAddress, range } from '../addresses/ip-address.ts'
import { METADATA, TRANSLATED } from '../addresses/known-ranges.ts'

/**
 * `local` is this machine and private networks, `special` is where nobody means to go: services that hand out
 * credentials to whoever asks, neighbours on the same wire, groups, and what is set aside for other things.
 */
export type AddressKind = 'public' | 'local' | 'special'

/** With "any address" (`0.0.0.0`, `::`), which a system takes for its own. */
const LOCAL = ranges(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::/127',
  'fc00::/7',
  'fec0::/10',
)
const SPECIAL = ranges(
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
)
/** All public addresses of IPv6 are in here. */
const GLOBAL_UNICAST = range('2000::/3')

export function addressKind(text: string): AddressKind {
  const address = parseAddress(text)
  return address ? kindOf(address) : 'special'
}

function kindOf(address: IpAddress): AddressKind {
  const within = (candidates: readonly IpRange[]) => candidates.some((candidate) => contains(candidate, address))
  if (within(METADATA)) return 'special'
  if (within(LOCAL)) return 'local'
  const [, offset] = TRANSLATED.find(([prefix]) => contains(prefix, address)) ?? []
  if (offset !== undefined) return kindOf(address.slice(offset, offset + 4))
  if (within(SPECIAL) || (address.length === 16 && !contains(GLOBAL_UNICAST, address))) return 'special'
  // Behind an address of one of our own interfaces are the same services as on the loopback.
  return within(ownAddresses()) ? 'local' : 'public'
}

function ownAddresses(): IpRange[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.flatMap(({ address: text }) => {
      const address = parseAddress(text)
      return address ? [{ address, bits: address.length * 8 }] : []
    }),
  )
}

function ranges(...texts: string[]): IpRange[] {
  return texts.map(range)
}
