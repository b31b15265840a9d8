import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { NetworkDecision } from './decision.ts'

/** How long a client that is being refused may go on sending before it is cut off. */
const LINGER_MS = 2_000

/** Why a request is not passed on, to be said to the client. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number
  readonly headers: readonly string[]
  constructor(status: number, message: string, headers: readonly string[] = []) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

export function blockedRefusal(decision: NetworkDecision): HttpRefusal {
  const { reason, method, host, port } = decision
  const what = `${method ?? 'the connection to'} ${host.includes(':') ? `[${host}]` : host}:${port}`
  const { header, text } = EXPLANATIONS.get(reason) ?? SOMEBODY_ELSE
  return new HttpRefusal(403, `Waldo has blocked ${what}: ${text} (${reason})`, [`x-proxy-error: ${header}`])
}

/** Our own reasons. Others are whatever a decider has written. */
const EXPLANATIONS: ReadonlyMap<string, { readonly header: string; readonly text: string }> = new Map([
  [
    'not_allowed',
    { header: 'blocked-by-allowlist', text: 'the host is not on the list of what this command may reach' },
  ],
  [
    'not_allowed_local',
    { header: 'blocked-by-allowlist', text: 'it is, or leads to, an address of the executor or of a private network' },
  ],
  ['denied', { header: 'blocked-by-denylist', text: 'the host is on the list of what this command must not reach' }],
  [
    'method_not_allowed',
    { header: 'blocked-by-method-policy', text: 'only GET, HEAD and OPTIONS over plain HTTP are allowed' },
  ],
  ['proxy_disabled', { header: 'blocked-by-policy', text: 'the network is switched off for this command' }],
])
const SOMEBODY_ELSE = { header: 'blocked-by-policy', text: 'the network policy says no' }

/** Answers, and ends the connection. */
export function refuse(client: Socket, { status, message, headers }: HttpRefusal, method?: string): void {
  const body = `${message}\n`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '\r\n',
  ].join('\r\n')
  client.end(method === 'HEAD' ? head : head + body)
  linger(client)
}

/**
 * Closes a connection that has been answered. What the client is still sending must be taken until it has read the
 * answer: closing on unread bytes makes the system throw the answer away.
 */
export function linger(client: Socket): void {
  const sent = () => {
    if (client.readableEnded) {
      client.destroy()
      return
    }
    const timer = setTimeout(() => client.destroy(), LINGER_MS)
    client.once('end', () => client.destroy())
    client.once('close', () => clearTimeout(timer))
  }
  if (client.writableFinished) sent()
  else client.once('finish', sent)
  client.resume()
}
