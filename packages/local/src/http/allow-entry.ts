import { canonicalHost } from '@waldo/protocol'
import { contains, type IpRange, parseAddress } from '@waldo/sandbox/addresses'

/** One thing that may be talked to: a name, the names below one, or addresses; on one port or on all. */
export type AllowEntry = { readonly port: number | undefined } & (
  | { readonly kind: 'name' | 'suffix'; readonly name: string }
  | { readonly kind: 'range'; readonly range: IpRange }
)

/** Reads `host`, `*.suffix`, `address` or `address/bits`, each with an optional `:port`; IPv6 with a port in brackets. */
export function parseAllowEntry(text: string): AllowEntry {
  const fail = (why: string) => new Error(`${JSON.stringify(text)} cannot be allowed: ${why}`)
  if (text.includes('://')) throw fail('it is a URL; give a host, as in example.com or example.com:443')
  const { target, portText, bracketed } = split(text)
  const port = portText === undefined ? undefined : Number(portText)
  if (portText !== undefined && !(/^\d{1,5}$/.test(portText) && port! > 0 && port! < 65536)) {
    throw fail(`${JSON.stringify(portText)} is no port; ports are 1 to 65535`)
  }
  const [host = '', bitsText, ...more] = target.split('/')
  if (host === '') throw fail('it has no host')
  if (bracketed && !parseAddress(host)) throw fail('in brackets there must be an IPv6 address')
  if (more.length > 0) throw fail('it has more than one slash')
  if (host.includes('*') && !host.startsWith('*.'))
    throw fail('a star stands only at the beginning, as in *.example.com')

  const suffix = host.startsWith('*.')
  const name = canonicalHost(suffix ? host.slice(2) : host)
  // With a zone it would be one interface's, and all would be allowed.
  if (name === undefined || host.includes('%')) throw fail(`${JSON.stringify(host)} is no host name and no address`)
  const address = parseAddress(name)
  if (!address) {
    if (bitsText !== undefined) throw fail('a slash comes after an address only, as in 10.0.0.0/8')
    return { kind: suffix ? 'suffix' : 'name', name, port }
  }
  if (suffix) throw fail('a star stands before names only; for addresses write 10.0.0.0/8')
  const widest = address.length * 8
  const bits = bitsText === undefined ? widest : Number(bitsText)
  if (bitsText !== undefined && !(/^\d{1,3}$/.test(bitsText) && bits <= widest)) {
    throw fail(`after the slash comes a number from 0 to ${widest}`)
  }
  const range = { address: masked(address, bits), bits }
  if (!contains({ address, bits: widest }, range.address)) throw fail(`there are address bits beyond the first ${bits}`)
  return { kind: 'range', range, port }
}

function split(text: string): { target: string; portText: string | undefined; bracketed: boolean } {
  const inBrackets = /^\[(.*)\](?::(.*))?$/.exec(text)
  if (inBrackets) return { target: inBrackets[1]!, portText: inBrackets[2], bracketed: true }
  const colon = text.indexOf(':')
  // With two colons it is an IPv6 address alone.
  if (colon < 0 || text.includes(':', colon + 1)) return { target: text, portText: undefined, bracketed: false }
  return { target: text.slice(0, colon), portText: text.slice(colon + 1), bracketed: false }
}

function masked(address: Uint8Array, bits: number): Uint8Array {
  return address.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - i * 8))))
}
