import { canonicalHost } from '@waldo/protocol'
import { HttpRefusal } from './http-answer.ts'
import { type HttpField, parseField } from './http-field.ts'
import type { Parse } from './incoming.ts'

export interface HttpRequest {
  readonly method: string
  readonly version: '1.0' | '1.1'
  readonly host: string
  readonly port: number
  /** Path and query, as they came. Empty for `CONNECT`. */
  readonly path: string
  /** Names in lower case. */
  readonly fields: readonly HttpField[]
}

const HEAD_END = Buffer.from('\r\n\r\n')
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e\x80-\xff]+) HTTP\/(\d\.\d)$/
const ABSOLUTE = /^http:\/\/([^/?#]*)([^#]*)/i
const AUTHORITY = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/

/** Finds the end of a head, looking at no byte twice; the head itself is text in latin1. */
export function headParser(): Parse<string> {
  let seen = 0
  return (bytes) => {
    // Whoever begins like this does not speak HTTP, and may never come to an end of it.
    if (bytes.length > 0 && (bytes[0]! < 0x21 || bytes[0]! > 0x7e)) return { value: '', length: 0 }
    const at = bytes.indexOf(HEAD_END, Math.max(0, seen - HEAD_END.length))
    seen = bytes.length
    return at < 0 ? undefined : { value: bytes.toString('latin1', 0, at), length: at + HEAD_END.length }
  }
}

/**
 * Reads the head of a request to a proxy. Whatever another reader might understand in another way is refused: what we
 * decide about must be what the server does. Throws an `HttpRefusal`.
 */
export function parseRequest(head: string): HttpRequest {
  const [first = '', ...lines] = head.split('\r\n')
  const [, method, target, version] = REQUEST_LINE.exec(first) ?? []
  if (method === undefined || target === undefined) throw malformed('its first line is not one of HTTP')
  if (version !== '1.0' && version !== '1.1') throw new HttpRefusal(505, 'this proxy speaks HTTP/1.1')
  const fields = lines.map(requireField)
  return { method, version, fields, ...(method === 'CONNECT' ? parseTunnelTarget(target) : parseTarget(target)) }
}

function requireField(line: string): HttpField {
  const field = parseField(line)
  if (!field) throw malformed('it has a header line that is not one')
  return field
}

function parseTunnelTarget(target: string): { host: string; port: number; path: string } {
  const { host, port } = parseAuthority(target)
  if (port === undefined) throw malformed('CONNECT needs a host and a port')
  return { host, port, path: '' }
}

function parseTarget(target: string): { host: string; port: number; path: string } {
  const [, authority, path] = ABSOLUTE.exec(target) ?? []
  if (authority === undefined || path === undefined) {
    throw malformed('a proxy is asked for http://host/path, or with CONNECT for a tunnel to anything else')
  }
  const { host, port = 80 } = parseAuthority(authority)
  return { host, port, path: path.startsWith('/') ? path : `/${path}` }
}

function parseAuthority(text: string): { host: string; port: number | undefined } {
  const [, name = '', digits] = AUTHORITY.exec(text) ?? []
  const host = canonicalHost(name)
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || port === 0 || (port ?? 1) > 65_535)
    throw malformed('it names no host that could be reached')
  return { host, port }
}

export function malformed(what: string): HttpRefusal {
  return new HttpRefusal(400, `Waldo has not passed on this request: ${what}`)
}
