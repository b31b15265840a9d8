import { canonicalHost } from '@waldo/protocol'
import type { ProxyConnection } from './connection.ts'
import { dial } from './dial.ts'
import { linger } from './http-answer.ts'
import { IncomingError, type Parse } from './incoming.ts'
import { UnreachableError } from './resolver.ts'
import { tunnel } from './tunnel.ts'

/** More than the longest message that a client sends. */
const MAX_MESSAGE_BYTES = 300
const VERSION = 5
const CONNECT = 1
const REPLY = {
  ok: 0,
  failed: 1,
  notAllowed: 2,
  unreachable: 4,
  refused: 5,
  late: 6,
  noSuchCommand: 7,
  noSuchAddress: 8,
}
const NO_AUTHENTICATION = 0
const NOTHING_ACCEPTABLE = 0xff
/** Of version 4, which cannot be asked for names in its first form. */
const REJECTED_4 = Buffer.of(0, 0x5b, 0, 0, 0, 0, 0, 0)

/** What a client that speaks SOCKS is told where it is not spoken to. */
export function refuseSocks({ client, incoming }: ProxyConnection, version: number): void {
  incoming.detach()
  client.end(version === VERSION ? Buffer.of(VERSION, NOTHING_ACCEPTABLE) : REJECTED_4)
  linger(client)
}

/** Serves a client that speaks SOCKS5: one tunnel. Resolves when it has been served. */
export async function serveSocks(connection: ProxyConnection): Promise<void> {
  const { client, clientAddress, incoming, policy, limits, signal } = connection
  try {
    const methods = await incoming.take(greeting, MAX_MESSAGE_BYTES)
    if (!methods.includes(NO_AUTHENTICATION)) {
      refuseSocks(connection, VERSION)
      return
    }
    client.write(Buffer.of(VERSION, NO_AUTHENTICATION))
    const { command, host: text, port } = await incoming.take(request, MAX_MESSAGE_BYTES)
    const early = incoming.detach()
    if (command !== CONNECT) throw new SocksRefusal(REPLY.noSuchCommand)
    const host = text === undefined ? undefined : canonicalHost(text)
    if (host === undefined || port === 0) throw new SocksRefusal(REPLY.noSuchAddress)
    const verdict = await policy.judge({ protocol: 'socks5_tcp', host, port, client: clientAddress }, signal)
    if (!verdict.allowed) throw new SocksRefusal(REPLY.notAllowed)
    const server = await dial(verdict.addresses, port, { dialMs: limits.dialMs, signal })
    client.write(reply(REPLY.ok))
    await tunnel(client, server, early, limits.idleMs)
  } catch (error) {
    incoming.detach()
    const code = replyTo(error)
    if (code === undefined) {
      client.destroy()
      return
    }
    client.end(reply(code))
    linger(client)
  }
}

class SocksRefusal extends Error {
  readonly code: number
  constructor(code: number) {
    super(`SOCKS reply ${code}`)
    this.code = code
  }
}

/** Undefined if the client has not said what it wants, and is not waiting for a reply. */
function replyTo(error: unknown): number | undefined {
  if (error instanceof SocksRefusal) return error.code
  if (error instanceof IncomingError) return undefined
  if (!(error instanceof UnreachableError)) return REPLY.failed
  if (error.timedOut) return REPLY.late
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED' ? REPLY.refused : REPLY.unreachable
}

/** The address that we have is nobody's business. */
const reply = (code: number) => Buffer.of(VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0)

const greeting: Parse<Buffer> = (bytes) => {
  const length = 2 + (bytes[1] ?? 0)
  return bytes.length < length ? undefined : { value: Buffer.from(bytes.subarray(2, length)), length }
}

interface SocksRequest {
  readonly command: number
  /** Undefined if it is of a kind that there is not. */
  readonly host: string | undefined
  readonly port: number
}

const request: Parse<SocksRequest> = (bytes) => {
  const [version, command = 0, , kind] = bytes
  if (bytes.length < 5) return undefined
  if (version !== VERSION) throw new SocksRefusal(REPLY.failed)
  // The first byte of a name is its length.
  const [start, size] = kind === 1 ? [4, 4] : kind === 4 ? [4, 16] : kind === 3 ? [5, bytes[4]!] : [4, 0]
  if (size === 0) return { value: { command, host: undefined, port: 0 }, length: bytes.length }
  const length = start + size + 2
  if (bytes.length < length) return undefined
  const address = bytes.subarray(start, start + size)
  const host = kind === 3 ? address.toString('latin1') : kind === 1 ? address.join('.') : groups(address)
  return { value: { command, host, port: bytes.readUInt16BE(start + size) }, length }
}

function groups(address: Buffer): string {
  return Array.from({ length: 8 }, (_, i) => address.readUInt16BE(i * 2).toString(16)).join(':')
}
