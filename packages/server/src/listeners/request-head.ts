/** What a client asks for before it may speak WebSocket. */
export interface RequestHead {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly minorVersion: number
  /** Names in lower case. What came more than once and may do so is joined with commas. */
  readonly headers: ReadonlyMap<string, string>
}

/** Where two of them would be read differently by different readers, so there must not be two. */
const ONCE = new Set([
  'authorization',
  'content-length',
  'host',
  'sec-websocket-key',
  'sec-websocket-version',
  'transfer-encoding',
  'upgrade',
])
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/1\.([01])$/
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/

/** Expects everything up to the empty line, as latin1. Undefined if that is not HTTP/1, to the letter. */
export function parseRequestHead(text: string): RequestHead | undefined {
  const [first, ...lines] = text.split('\r\n')
  const [, method, target, minor] = REQUEST_LINE.exec(first ?? '') ?? []
  if (method === undefined || target === undefined) return undefined
  const path = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)?(?:\?.*)?$/i.exec(target)
  if (!path) return undefined
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    const key = name.toLowerCase()
    const earlier = headers.get(key)
    if (earlier !== undefined && ONCE.has(key)) return undefined
    headers.set(key, earlier === undefined ? value.trim() : `${earlier}, ${value.trim()}`)
  }
  const minorVersion = Number(minor)
  if (minorVersion > 0 && !headers.has('host')) return undefined
  return { method, path: path[1] ?? '/', minorVersion, headers }
}
