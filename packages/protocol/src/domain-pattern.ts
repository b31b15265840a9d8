import { canonicalHost, isAddress, MAX_HOST_BYTES } from './host-name.ts'

/** Enough for the longest host with all that can be around it. */
const MAX_PATTERN = MAX_HOST_BYTES + 20
const PATTERN = /^(\*{1,2}\.)?(.*?)(?::(\d{1,5}))?$/s

/** `example.com` is that host, `*.example.com` all below it, `**.example.com` both; with a port that port alone. */
export interface DomainPattern {
  readonly prefix: string
  /** In its canonical spelling. */
  readonly host: string
  readonly port: number | undefined
}

/** Undefined if it is none. */
export function domainPattern(text: string): DomainPattern | undefined {
  if (text.length > MAX_PATTERN) return undefined
  // Before anything else: an address of IPv6 ends in what looks like a port.
  const whole = canonicalHost(text)
  if (whole !== undefined) return { prefix: '', host: whole, port: undefined }
  const [, prefix = '', name = '', digits] = PATTERN.exec(text) ?? []
  const host = canonicalHost(name)
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || (prefix !== '' && isAddress(host)) || (port ?? 0) > 65_535) return undefined
  return { prefix, host, port }
}
