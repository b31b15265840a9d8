import { isIP, isIPv6 } from 'node:net'
import { parseAddress } from '../addresses/ip-address.ts'

export const MAX_HOST_BYTES = 253

/** What would end the host in a URL, or is not decoded by everybody in the same way. */
const NO_PART_OF_A_HOST = /[\p{Cc}\s/?#@\\%:[\]<>^|]/u
const NAME = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/

/**
 * The one spelling of a host that rules are compared with, and that is dialled: lower case, without brackets, zone and
 * final dot; addresses as addresses, however they are written (`0x7f.1`, `2130706433`, `::ffff:127.0.0.1`). Undefined
 * if it is no host.
 */
export function canonicalHost(text: string): string | undefined {
  const [bare = ''] = text.replace(/^\[(.*)\]$/s, '$1').split('%', 1)
  if (isIPv6(bare)) {
    const address = parseAddress(bare)!
    return address.length === 4 ? address.join('.') : hostname(`[${bare}]`)?.slice(1, -1)
  }
  if (text.startsWith('[') || NO_PART_OF_A_HOST.test(text)) return undefined
  const name = hostname(text)?.replace(/\.$/, '')
  return name !== undefined && name.length <= MAX_HOST_BYTES && (isIP(name) || NAME.test(name)) ? name : undefined
}

/** Names that mean this machine without anybody being asked. */
export function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function hostname(authority: string): string | undefined {
  return URL.parse(`http://${authority}/`)?.hostname
}
