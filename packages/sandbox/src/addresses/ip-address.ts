import { isIPv4, isIPv6 } from 'node:net'

/** 4 bytes or 16. What IPv6 writes for an IPv4 destination (`::ffff:127.0.0.1`) is that IPv4 address. */
export type IpAddress = Uint8Array

export interface IpRange {
  readonly address: IpAddress
  readonly bits: number
}

/** Undefined if the text is no address. A zone (`fe80::1%eth0`) says through which interface, not where to: it is left out. */
export function parseAddress(text: string): IpAddress | undefined {
  const [bare = ''] = text.split('%', 1)
  if (isIPv4(bare)) return Uint8Array.from(bare.split('.'), Number)
  if (!isIPv6(bare)) return undefined
  const [left = '', right] = bare.split('::')
  const head = parseGroups(left)
  const tail = right === undefined ? [] : parseGroups(right)
  const bytes = new Uint8Array(16)
  bytes.set(head)
  bytes.set(tail, 16 - tail.length)
  return contains(MAPPED, bytes) ? bytes.slice(12) : bytes
}

/** `10.0.0.0/8`. */
export function range(text: string): IpRange {
  const [address = '', bits = ''] = text.split('/')
  return { address: parseAddress(address)!, bits: Number(bits) }
}

export function contains({ address, bits }: IpRange, candidate: IpAddress): boolean {
  if (address.length !== candidate.length) return false
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (address[i] !== candidate[i]) return false
  const shift = 8 - (bits & 7)
  return shift === 8 || address[whole]! >> shift === candidate[whole]! >> shift
}

function parseGroups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}

const MAPPED: IpRange = { address: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0), bits: 96 }
