import { isIP } from 'node:net'
import { canonicalHost, MAX_HOST_BYTES } from './host.ts'

/** Enough for the longest host with all that can be around it. */
const MAX_PATTERN = MAX_HOST_BYTES + 20
const PATTERN = /^(\*{1,2}\.)?(.*?)(?::(\d{1,5}))?$/s

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
    if (isIP(host)) return false
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

interface Pattern {
  readonly prefix: string
  readonly host: string
  readonly port: string | undefined
}

function parsePattern(text: string): Pattern {
  const pattern = text.length <= MAX_PATTERN ? readPattern(text) : undefined
  if (pattern) return pattern
  throw new Error(
    `${JSON.stringify(text.slice(0, MAX_PATTERN))} is no domain pattern; write example.com, ` +
      '*.example.com (all below it), **.example.com (both) or an address',
  )
}

function readPattern(text: string): Pattern | undefined {
  // Before anything else: an address of IPv6 ends in what looks like a port.
  const whole = canonicalHost(text)
  if (whole !== undefined) return { prefix: '', host: whole, port: undefined }
  const [, prefix = '', name = '', port] = PATTERN.exec(text) ?? []
  const host = canonicalHost(name)
  if (host === undefined || (prefix !== '' && isIP(host)) || Number(port ?? 1) > 65_535) return undefined
  return { prefix, host, port: port === undefined ? undefined : String(Number(port)) }
}
