import { networkInterfaces } from 'node:os'
import { canonicalHost } from '@waldo/protocol'
import { contains, type IpAddress, parseAddress } from '@waldo/sandbox/addresses'
import { type AddressKind, addressKind } from './address-kind.ts'
import { type AllowEntry, parseAllowEntry } from './allow-entry.ts'

/** Whom the executor may talk to. Asked about every address before it is dialled. */
export interface HttpPolicy {
  /** Why it may not; undefined if it may. */
  refusal(host: string, port: number, address: string): string | undefined
}

export interface AddressRules {
  /** What happens to an ordinary address that is not on the list. */
  readonly mode: 'allow' | 'deny'
  readonly allow: readonly string[]
  /** Whether this machine itself may be talked to. */
  readonly localAllowed: boolean
}

/**
 * Lets ordinary addresses through, or only those on the list. This machine (loopback, and the addresses of its own
 * interfaces, behind which the same services listen), link-local, metadata and multicast addresses need more:
 *
 * - an entry with the address allows it, whatever kind it is of;
 * - an entry with the exact name allows ordinary addresses and this machine: whoever lists `localhost` means it, but
 *   whoever lists a name on the internet does not mean that its DNS may lead to the metadata service;
 * - an entry with a star allows ordinary addresses alone: anybody may own a name below it.
 */
export class AddressPolicy implements HttpPolicy {
  readonly #rules: AddressRules
  readonly #entries: readonly AllowEntry[]
  readonly #ownAddresses: () => readonly string[]

  constructor(rules: AddressRules, ownAddresses: () => readonly string[] = interfaceAddresses) {
    this.#rules = rules
    this.#entries = rules.allow.map(parseAllowEntry)
    this.#ownAddresses = ownAddresses
  }

  refusal(host: string, port: number, address: string): string | undefined {
    const bytes = parseAddress(address)
    if (!bytes) return `${JSON.stringify(address)}, which ${host} resolves to, is no address`
    const kind = this.#kind(bytes)
    const name = canonicalHost(host) ?? host
    if (kind === 'loopback' && this.#rules.localAllowed) return undefined
    if (kind === 'ordinary' && this.#rules.mode === 'allow') return undefined
    if (this.#entries.some((entry) => matches(entry, name, port, bytes, kind))) return undefined
    const what = kind === 'ordinary' ? 'not on the list of what is allowed' : DESCRIPTIONS[kind]
    const entry = kind === 'ordinary' || kind === 'loopback' ? name : address
    return (
      `the executor may not talk to ${name} on port ${port}: ${address} is ${what}; ` +
      `start it with --http-allow ${entry.includes(':') ? `[${entry}]` : entry}:${port} to allow this`
    )
  }

  #kind(address: IpAddress): AddressKind {
    const kind = addressKind(address)
    if (kind !== 'ordinary') return kind
    const own = this.#ownAddresses().some((text) => {
      const candidate = parseAddress(text)
      return candidate && contains({ address: candidate, bits: candidate.length * 8 }, address)
    })
    return own ? 'loopback' : 'ordinary'
  }
}

const DESCRIPTIONS: Record<Exclude<AddressKind, 'ordinary'>, string> = {
  loopback: "an address of the executor's own machine",
  'link-local': 'a link-local address',
  metadata: 'an address of a cloud metadata service',
  multicast: 'a multicast or broadcast address',
}

function matches(entry: AllowEntry, name: string, port: number, address: IpAddress, kind: AddressKind): boolean {
  if (entry.port !== undefined && entry.port !== port) return false
  switch (entry.kind) {
    case 'range':
      return contains(entry.range, address)
    case 'name':
      return name === entry.name && (kind === 'ordinary' || kind === 'loopback')
    case 'suffix':
      return name.endsWith(`.${entry.name}`) && kind === 'ordinary'
  }
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
}
