import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { ExecError, type ExecErrorCode } from '@waldo/environment'
import { AddressPolicy } from './address-policy.ts'
import type { DialOptions } from './dial.ts'
import { HttpClient, type HttpRequest, type HttpResponse } from './http-client.ts'

const fixture = (name: string) =>
  readFileSync(`${import.meta.dir}/../../../../tests/fixtures/localhost.${name}.pem`, 'utf8')
export const certificate = fixture('cert')

export interface RawRequest {
  /** As it came, head and body, in latin1. */
  readonly text: string
  readonly socket: Socket
  /** Counts requests and connections from 1. */
  readonly nth: number
  readonly connection: number
}

export interface RawServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly requests: RawRequest[]
  readonly connections: Set<Socket>
  /** How many there have been. */
  readonly accepted: () => number
}

/** Reads whole requests and lets the test write the bytes of the answers. */
export async function rawServer(
  answer: (request: RawRequest) => unknown,
  { tls = false, host = '127.0.0.1', port: wanted = 0 } = {},
): Promise<RawServer> {
  const requests: RawRequest[] = []
  const connections = new Set<Socket>()
  let accepted = 0
  const accept = (socket: Socket) => {
    const connection = ++accepted
    connections.add(socket)
    let pending = ''
    // Clients that hang up are what many tests are about.
    socket.on('error', () => {})
    socket.on('close', () => connections.delete(socket))
    socket.on('data', (bytes) => {
      pending += bytes.toString('latin1')
      for (let length = requestLength(pending); length <= pending.length; length = requestLength(pending)) {
        const request = { text: pending.slice(0, length), socket, nth: requests.length + 1, connection }
        pending = pending.slice(length)
        requests.push(request)
        answer(request)
      }
    })
  }
  const server = tls ? createTlsServer({ cert: certificate, key: fixture('key') }, accept) : createServer(accept)
  server.on('tlsClientError', () => {})
  server.listen(wanted, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    connections,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A whole response with a length. */
export function reply(body: string, { status = 200, headers = [] as string[] } = {}): string {
  return [`HTTP/1.1 ${status} X`, ...headers, `content-length: ${body.length}`, '', body].join('\r\n')
}

export function testClient(options: Partial<DialOptions> = {}): HttpClient & Disposable {
  const policy = new AddressPolicy({ mode: 'allow', allow: [], localAllowed: true })
  const client = new HttpClient({ policy, ...options })
  return Object.assign(client, { [Symbol.dispose]: () => client.close() })
}

export function get(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url, headers: [], body: undefined, timeoutMs: undefined, redirects: 'follow', ...more }
}

export const never = new AbortController().signal

export async function readAll(response: HttpResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  for (let piece = await response.read(); piece; piece = await response.read()) pieces.push(piece)
  return Buffer.concat(pieces).toString('latin1')
}

export const descriptors = () => readdirSync('/dev/fd').length
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Waits for something that must come. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** For `assert.rejects`. */
export const fails = (code: ExecErrorCode, message: string | RegExp) => (error: unknown) => {
  assert.ok(ExecError.is(error, code), String(error))
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
  return true
}

function requestLength(pending: string): number {
  const head = pending.indexOf('\r\n\r\n')
  if (head < 0) return Number.POSITIVE_INFINITY
  return head + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0)
}
