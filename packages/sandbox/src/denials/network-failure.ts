export interface Endpoint {
  readonly host?: string
  readonly port?: number
}

/** Longer lines are data. */
const MAX_CONTEXT = 300

/** What programs say who cannot find, or reach, anybody. A refused connection was let through, so it is not one of them. */
const FAILURE =
  /could(?: not|n't) resolve host(?:name)?|unable to resolve host(?: address)?|temporary failure in name resolution|name or service not known|no address associated with hostname|nodename nor servname provided|network is unreachable|failed to connect to|\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b/gi
/** What is forbidden to whoever has no network. The code alone says as much. */
const FORBIDDEN = /operation not permitted|\bEPERM\b/gi
const ABOUT_SOCKETS = /socket|\b(?:connect|listen|bind|sendto|sendmsg|getaddrinfo|netlink|dial)\b|\/dev\/(?:tcp|udp)\//i
const NAMED_BEFORE =
  /\b(?:lookup|dial (?:tcp|udp)|connect to|connect E[A-Z]+|server at) "?([a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5})\b|"?,? port (\d{1,5})\b)?/i
const SHELL_DEVICE = /\/dev\/(?:tcp|udp)\/([a-z0-9][a-z0-9.-]{0,252})\/(\d{1,5})\b/i

/** Whom a line says could not be reached, for want of a network. `above` are the lines before it. */
export function networkFailure(line: string, above: readonly string[]): Endpoint | undefined {
  const failure = [...line.matchAll(FAILURE)].at(-1)
  if (failure) {
    const endpoint = endpointAt(line, failure.index, failure.index + failure[0].length)
    // Nobody needs a network to reach themselves: there was just nobody there.
    const isOwn = endpoint.host === undefined || isLoopback(endpoint.host)
    return /^failed to connect/i.test(failure[0]) && isOwn ? undefined : endpoint
  }
  const forbidden = [...line.matchAll(FORBIDDEN)].at(-1)
  if (!forbidden) return undefined
  const around = line.slice(Math.max(0, forbidden.index - MAX_CONTEXT), forbidden.index + MAX_CONTEXT)
  // Python names the call only where it happened.
  if (![around, ...above.map((each) => each.slice(0, MAX_CONTEXT))].some((text) => ABOUT_SOCKETS.test(text))) {
    return undefined
  }
  return endpointAt(line, forbidden.index, forbidden.index + forbidden[0].length)
}

function endpointAt(line: string, start: number, end: number): Endpoint {
  const before = line.slice(Math.max(0, start - MAX_CONTEXT), start)
  const after = line.slice(end, end + MAX_CONTEXT)
  const [, device, devicePort] = SHELL_DEVICE.exec(before) ?? []
  if (device !== undefined) return endpoint(device, devicePort)
  const words = after.split(' ').filter((word) => word !== '' && word !== ':')
  const next = hostIn(words[0]) ?? hostIn(before.split(' ').findLast((word) => word !== ''))
  if (next) return next.port === undefined && words[1] === 'port' ? endpoint(next.host!, words[2]) : next
  const [, named, port, otherPort] = NAMED_BEFORE.exec(before + line.slice(start, end) + after) ?? []
  return named === undefined || !named.includes('.') ? {} : endpoint(named, port ?? otherPort)
}

/** A word that is a host, with a port or without. */
function hostIn(word: string | undefined): Endpoint | undefined {
  const trimmed = word?.replace(/^["'‘“(<[]/, '').replace(/["'’”)>\],;:.]{1,3}$/, '') ?? ''
  // In lower case, unlike the names of exceptions.
  const [, host, port] = /^([a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5}))?$/.exec(trimmed) ?? []
  return host?.includes('.') || host === 'localhost' ? endpoint(host, port) : undefined
}

function endpoint(host: string, port: string | undefined): Endpoint {
  const number = Number.parseInt(port ?? '', 10)
  return number > 0 && number < 65_536 ? { host, port: number } : { host }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || /^127\./.test(host)
}
