import { type DomainPattern, domainPattern } from './domain-pattern.ts'
import { isAddress } from './host-name.ts'

const MAX_SHOWN = 300

/**
 * Hosts that patterns stand for: `example.com` is that host, `*.example.com` all below it, `**.example.com` both, `*`
 * everybody. A pattern with a port (`example.com:8080`) stands for that port alone.
 */
export class DomainSet {
  readonly #hosts = new Set<string>()
  readonly #parents = new Set<string>()
  #everybody = false

  /** Throws an error that says what is wrong with a pattern. */
  add(pattern: string): void {
    const text = pattern.trim()
    if (text === '*') {
      this.#everybody = true
      return
    }
    const { prefix, host, port } = parsePattern(text)
    const key = port === undefined ? host : `${host} ${port}`
    if (prefix !== '*.') this.#hosts.add(key)
    if (prefix !== '') this.#parents.add(key)
  }

  /** `host` in its canonical spelling. */
  has(host: string, port: number): boolean {
    if (this.#everybody || this.names(host, port)) return true
    if (isAddress(host)) return false
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const parent = host.slice(dot + 1)
      if (this.#parents.has(parent) || this.#parents.has(`${parent} ${port}`)) return true
    }
    return false
  }

  /** Whether it is meant by name, and not just included. */
  names(host: string, port: number): boolean {
    return this.#hosts.has(host) || this.#hosts.has(`${host} ${port}`)
  }
}

/** The same pattern for all ports. */
export function withoutPort(pattern: string): string {
  const text = pattern.trim()
  if (text === '*') return text
  const { prefix, host } = parsePattern(text)
  return `${prefix}${host}`
}

function parsePattern(text: string): DomainPattern {
  const pattern = domainPattern(text)
  if (pattern) return pattern
  throw new Error(
    `${JSON.stringify(text.slice(0, MAX_SHOWN))} is no domain pattern; write example.com, ` +
      '*.example.com (all below it), **.example.com (both) or an address',
  )
}
