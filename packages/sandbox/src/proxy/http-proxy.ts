import type { Socket } from 'node:net'
import type { ProxyConnection } from './connection.ts'
import { dial } from './dial.ts'
import { exchange } from './exchange.ts'
import { blockedRefusal, HttpRefusal, refuse } from './http-answer.ts'
import { type HttpRequest, headParser, parseRequest } from './http-request.ts'
import { IncomingError } from './incoming.ts'
import { requestBody } from './request-body.ts'
import { UnreachableError } from './resolver.ts'
import { tunnel } from './tunnel.ts'

const MAX_HEAD_BYTES = 64 * 1024
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** Serves a client that speaks HTTP: one request, or one tunnel. Resolves when it has been served. */
export async function serveHttp(connection: ProxyConnection): Promise<void> {
  const { client, incoming, limits } = connection
  let request: HttpRequest | undefined
  try {
    const head = await incoming.take(headParser(), MAX_HEAD_BYTES)
    const early = incoming.detach()
    request = parseRequest(head)
    if (request.method === 'CONNECT') {
      const server = await reach(connection, request, 'https_connect')
      client.write(ESTABLISHED)
      await tunnel(client, server, early, limits.idleMs)
      return
    }
    const body = requestBody(request)
    const server = await reach(connection, request, 'http')
    await exchange({ client, server, request, body, early, idleMs: limits.idleMs })
  } catch (error) {
    incoming.detach()
    const refusal = refusalOf(error)
    if (refusal) refuse(client, refusal, request?.method)
    else client.destroy()
  }
}

async function reach(
  { policy, limits, signal, clientAddress }: ProxyConnection,
  { host, port, method }: HttpRequest,
  protocol: 'http' | 'https_connect',
): Promise<Socket> {
  const verdict = await policy.judge({ protocol, host, port, method, client: clientAddress }, signal)
  if (!verdict.allowed) throw blockedRefusal(verdict.decision)
  return dial(verdict.addresses, port, { dialMs: limits.dialMs, signal })
}

/** Undefined if there is nobody to be told. */
function refusalOf(error: unknown): HttpRefusal | undefined {
  if (error instanceof HttpRefusal) return error
  if (error instanceof UnreachableError) {
    return new HttpRefusal(error.timedOut ? 504 : 502, `Waldo has not reached the host: ${error.message}`)
  }
  if (!(error instanceof IncomingError)) return new HttpRefusal(500, `Waldo has failed: ${(error as Error).message}`)
  switch (error.problem) {
    case 'late':
      return new HttpRefusal(408, 'Waldo has waited for the rest of this request for too long')
    case 'large':
      return new HttpRefusal(431, `the head of a request may have ${MAX_HEAD_BYTES} bytes`)
    case 'gone':
      return undefined
  }
}
