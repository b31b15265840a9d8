import type { Authenticator } from './authentication.ts'
import type { RequestHead } from './request-head.ts'

export interface HttpAnswer {
  /** Whether what follows is WebSocket. If not, the connection ends with the answer. */
  readonly upgraded: boolean
  readonly text: string
}

/** Who may come in. */
export interface Admission {
  readonly authenticate: Authenticator | undefined
  /** Why this one may not, whatever it has to show. */
  readonly refuse?: () => string | undefined
}

const REASONS = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  426: 'Upgrade Required',
} as const

/** Appended to the key of a client, so that nobody answers who does not know what it is about (RFC 6455, 1.3). */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** `head` is undefined if it was malformed. */
export function answerRequest(head: RequestHead | undefined, { authenticate, refuse }: Admission): HttpAnswer {
  if (!head) return answer(400)
  const { method, path, headers } = head
  const respond = (status: keyof typeof REASONS, text = '', more: string[] = []) =>
    answer(status, text, more, method === 'HEAD')
  // Only browsers send it, and a page that the user happens to visit must not reach the executor.
  if (headers.has('origin')) return respond(403)
  const refusal = refuse?.()
  if (refusal !== undefined) return respond(403, refusal)
  if (path === '/readyz') return method === 'GET' || method === 'HEAD' ? respond(200) : respond(405)
  if (path !== '/') return respond(404)
  if (method !== 'GET') return respond(405, 'Request method must be `GET`')
  if (!asksForWebSocket(head)) return respond(400, "Connection header did not include 'upgrade'")
  const problem = authenticate?.(headers.get('authorization') ?? null)
  if (problem !== undefined) return respond(401, problem, ['www-authenticate: Bearer'])
  if (headers.get('sec-websocket-version') !== '13') return respond(426, '', ['sec-websocket-version: 13'])
  const key = headers.get('sec-websocket-key') ?? ''
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return respond(400, 'Sec-WebSocket-Key is missing or malformed')
  // Its bytes would be taken for frames.
  if (headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0') {
    return respond(400, 'A request to upgrade has no body')
  }
  return upgrade(key, headers.get('sec-websocket-protocol'))
}

function asksForWebSocket({ minorVersion, headers }: RequestHead): boolean {
  const names = (header: string) => (headers.get(header) ?? '').toLowerCase().split(/[ \t]*,[ \t]*/)
  return (
    minorVersion > 0 && headers.get('upgrade')?.toLowerCase() === 'websocket' && names('connection').includes('upgrade')
  )
}

/** We speak the same whatever it is called, and a client that offers names expects one of them. */
function upgrade(key: string, protocols: string | undefined): HttpAnswer {
  const accept = new Bun.CryptoHasher('sha1').update(key + ACCEPT_SUFFIX).digest('base64')
  const protocol = protocols?.split(',')[0]?.trim()
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${accept}`,
    ...(protocol && TOKEN.test(protocol) ? [`sec-websocket-protocol: ${protocol}`] : []),
  ]
  return { upgraded: true, text: `${lines.join('\r\n')}\r\n\r\n` }
}

function answer(status: keyof typeof REASONS, text = '', more: string[] = [], headOnly = false): HttpAnswer {
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    ...more,
    ...(text === '' ? [] : ['content-type: text/plain;charset=utf-8']),
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ]
  return { upgraded: false, text: `${lines.join('\r\n')}\r\n\r\n${headOnly ? '' : text}` }
}
