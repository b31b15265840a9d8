import { ExecError } from '@waldo/environment'
import type { HttpHeader } from './resolve-headers.ts'

const MAX_HEAD_BYTES = 64 * 1024
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROLS = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * They are about one connection, and connections are ours to manage. `connection: close` is the exception: it is sent,
 * and obeyed by the server.
 */
const NOT_SENT = new Set(['connection', 'keep-alive', 'proxy-connection', 'te'])
/** They would make the bytes on the connection mean something that neither this client nor its caller can follow. */
const REFUSED = new Map([
  ['transfer-encoding', 'the executor sends bodies with their length'],
  ['upgrade', 'the executor cannot switch protocols'],
])
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** A request that was checked, to be sent to one origin. */
export interface OutgoingRequest {
  readonly method: string
  /** Without userinfo: that has become a header. */
  readonly url: URL
  readonly headers: readonly HttpHeader[]
  readonly body: Uint8Array | undefined
}

/** Checks what a client asks for. */
export function checkRequest(request: {
  method: string
  url: string
  headers: readonly HttpHeader[]
  body: Uint8Array | undefined
}): OutgoingRequest {
  const { method, body } = request
  if (!TOKEN.test(method)) throw invalid('method is invalid: invalid HTTP method')
  if (method === 'CONNECT') throw invalid('method is invalid: the executor does not open tunnels')
  const { url, headers } = takeUserinfo(parseUrl(request.url), request.headers)
  let host = false
  let length = false
  for (const header of headers) {
    checkHeader(header)
    const name = header.name.toLowerCase()
    if (name === 'host') {
      if (host) throw invalid('header host is given more than once')
      host = true
    } else if (name === 'content-length') {
      if (length) throw invalid('header content-length is given more than once')
      length = true
      const bytes = body?.length ?? 0
      if (header.value !== String(bytes)) {
        throw invalid(`header content-length says ${header.value}, but the body has ${bytes} bytes`)
      }
    }
  }
  return { method, url, headers, body }
}

/** What goes on the wire before the body. Nothing is added that the caller has given. */
export function encodeHead({ method, url, headers, body }: OutgoingRequest): Uint8Array {
  let host = `host: ${url.host}\r\n`
  let accept = 'accept: */*\r\n'
  let length = body || METHODS_WITH_BODY.has(method) ? `content-length: ${body?.length ?? 0}\r\n` : ''
  let given = ''
  for (const { name, value } of headers) {
    const lower = name.toLowerCase()
    if (NOT_SENT.has(lower) && !(lower === 'connection' && value.toLowerCase() === 'close')) continue
    if (lower === 'host') host = ''
    else if (lower === 'accept') accept = ''
    else if (lower === 'content-length') length = ''
    given += `${name}: ${value}\r\n`
  }
  const bytes = Buffer.from(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${host}${given}${accept}${length}\r\n`)
  if (bytes.length > MAX_HEAD_BYTES) {
    throw invalid(`head is too large: ${bytes.length} bytes of URL and headers, at most ${MAX_HEAD_BYTES} are sent`)
  }
  return bytes
}

/** `user:password@` becomes an `authorization` header, unless there is one already. */
export function takeUserinfo(url: URL, headers: readonly HttpHeader[]): { url: URL; headers: readonly HttpHeader[] } {
  if (url.username === '' && url.password === '') return { url, headers }
  const credentials = `${unescaped(url.username)}:${unescaped(url.password)}`
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  if (headers.some(({ name }) => name.toLowerCase() === 'authorization')) return { url: bare, headers }
  const value = `Basic ${Buffer.from(credentials, 'latin1').toString('base64')}`
  return { url: bare, headers: [...headers, { name: 'authorization', value }] }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url) {
    const absolute = /^\s*[a-z][a-z0-9+.-]*:/i.test(text)
    throw invalid(`url is invalid: ${absolute ? 'it has no valid host or port' : 'relative URL without a base'}`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`only supports http and https URLs, got ${url.protocol.slice(0, -1)}`)
  }
  return url
}

function checkHeader({ name, value }: HttpHeader): void {
  if (!TOKEN.test(name)) throw invalid('header name is invalid: invalid HTTP header name')
  if (CONTROLS.test(value) || !value.isWellFormed()) {
    throw invalid(`header value is invalid for ${name}: failed to parse header value`)
  }
  const refused = REFUSED.get(name.toLowerCase())
  if (refused !== undefined) throw invalid(`header ${name} is not supported: ${refused}`)
}

/** A lone `%` is what the user typed, not an escape. */
function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}

function invalid(message: string): ExecError {
  return new ExecError('HTTP_INVALID', message)
}
