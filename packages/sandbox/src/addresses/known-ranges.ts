import { type IpRange, range } from './ip-address.ts'

/** Where clouds hand out credentials to whoever asks. */
export const METADATA: readonly IpRange[] = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map(range)

/** Prefixes with an IPv4 address inside, and where: a gateway may take it out and go there. */
export const TRANSLATED: readonly (readonly [IpRange, number])[] = [
  [range('64:ff9b::/96'), 12],
  [range('64:ff9b:1::/48'), 12],
  [range('::ffff:0:0:0/96'), 12],
  [range('2002::/16'), 2],
  [range('::/96'), 12],
]
