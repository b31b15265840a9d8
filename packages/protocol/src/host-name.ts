export const MAX_HOST_BYTES = 253
/** With the final dot. */
const MAX_SPELLING = MAX_HOST_BYTES + 1

/** The longest spelling of an address of IPv6, with one of IPv4 at its end. */
const MAX_IPV6 = 45
const IPV6 = /^[0-9a-f:.]+$/i
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const IPV4_AT_END = /(?<=:)(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/
/** What IPv6 writes for an IPv4 destination, as URLs have it: the zeros before it are always the longest. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/
/** What would end the host in a URL, or is not decoded by everybody in the same way. */
const NO_PART_OF_A_HOST = /[\p{Cc}\s/?#@\\%:[\]<>^|]/u
const NAME = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/

/**
 * The one spelling of a host that rules are compared with, and that is dialled: lower case, without brackets, zone and
 * final dot; addresses as addresses, however they are written (`0x7f.1`, `2130706433`, `::ffff:127.0.0.1`). Undefined
 * if it is no host.
 */
export function canonicalHost(text: string): string | undefined {
  if (text.length > MAX_SPELLING) return undefined
  const [bare = ''] = text.replace(/^\[(.*)\]$/s, '$1').split('%', 1)
  if (bare.includes(':')) return canonicalIpv6(bare)
  if (text.startsWith('[') || NO_PART_OF_A_HOST.test(text)) return undefined
  const name = hostOfUrl(text)?.replace(/\.$/, '')
  return name !== undefined && name.length <= MAX_HOST_BYTES && NAME.test(name) ? name : undefined
}

/** Of a host in its canonical spelling. */
export function isAddress(host: string): boolean {
  return host.includes(':') || IPV4.test(host)
}

function canonicalIpv6(text: string): string | undefined {
  // URLs leave out line ends and the like, so that these have to be looked for before.
  if (text.length > MAX_IPV6 || !IPV6.test(text)) return undefined
  // Not everybody's URLs have it at the end of `0:0:0::ffff:127.0.0.1`, though that is an address as well.
  const groups = text.replace(IPV4_AT_END, (address) => groupsOf(address) ?? address)
  const address = hostOfUrl(`[${groups}]`)?.slice(1, -1)
  const mapped = MAPPED.exec(address ?? '')?.slice(1)
  return mapped ? mapped.map((group) => bytesOf(Number.parseInt(group, 16))).join('.') : address
}

function groupsOf(address: string): string | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  if (Math.max(a, b, c, d) > 255) return undefined
  return [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(':')
}

function bytesOf(group: number): string {
  return `${group >> 8}.${group & 255}`
}

/** Undefined if URLs cannot have it. */
function hostOfUrl(host: string): string | undefined {
  const url = `http://${host}/`
  return URL.canParse(url) ? new URL(url).hostname : undefined
}
