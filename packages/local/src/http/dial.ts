import dns from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ExecError } from '@waldo/environment'
import type { HttpPolicy } from './address-policy.ts'
import type { Deadline } from './deadline.ts'

/** For everything from the name to the end of the TLS handshake. */
const CONNECT_MS = 30_000
const LOOKUP_MS = 10_000
/** For one address, as long as there is another to try. */
const ADDRESS_MS = 3_000
const MAX_ADDRESSES = 8

export interface Destination {
  /** A name or an address without brackets. */
  readonly host: string
  readonly port: number
  readonly tls: boolean
}

export interface DialOptions {
  readonly policy: HttpPolicy
  /** All addresses of a name, best first. */
  readonly lookup?: ((host: string) => Promise<readonly string[]>) | undefined
  /** Whom to trust instead of the well-known authorities, in PEM. */
  readonly ca?: string | undefined
}

/**
 * Connects. The policy is asked about addresses, and it is an address that is dialled: a name is looked up once, so it
 * cannot mean one thing to the policy and another to the socket. Addresses that are refused are passed over.
 */
export async function dial(destination: Destination, options: DialOptions, deadline: Deadline): Promise<Socket> {
  const { host, port } = destination
  const startedAt = performance.now()
  const addresses = isIP(host) ? [host] : await lookUp(host, options.lookup ?? systemLookup, deadline)
  const refusals = addresses.map((address) => options.policy.refusal(host, port, address))
  const allowed = addresses.filter((_, i) => refusals[i] === undefined).slice(0, MAX_ADDRESSES)
  const last = allowed.pop()
  if (last === undefined) throw new ExecError('HTTP_DENIED', refusals[0]!)
  const leftMs = () => Math.max(1, CONNECT_MS - (performance.now() - startedAt))
  for (const address of allowed) {
    try {
      return await connectTo(address, destination, options.ca, Math.min(ADDRESS_MS, leftMs()), deadline)
    } catch (error) {
      // Another address of somebody with the wrong certificate is not worth a try.
      if (deadline.reason || !(error instanceof UnreachableError)) throw error
    }
  }
  return connectTo(last, destination, options.ca, leftMs(), deadline)
}

/** Nobody is there, or nobody answers in time. */
class UnreachableError extends Error {}

function connectTo(
  address: string,
  { host, port, tls }: Destination,
  ca: string | undefined,
  limitMs: number,
  deadline: Deadline,
): Promise<Socket> {
  // Not `Bun.connect`: that neither gives up an attempt nor checks whose certificate it is.
  // Bodies are buffered in one place, which counts their pieces; a paused stream would collect its own.
  const target = { host: address, port, noDelay: true, highWaterMark: 1 }
  const socket = tls
    ? connectTls({
        ...target,
        ...(isIP(host) ? {} : { servername: host.replace(/\.$/, '') }),
        ...(ca === undefined ? {} : { ca }),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true,
      })
    : connect(target)
  return new Promise((resolve, reject) => {
    let connected = false
    let settled = false
    const settle = () => {
      settled = true
      clearTimeout(timer)
      deadline.tellNobody()
    }
    const fail = (error: Error) => {
      if (settled) return
      settle()
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(
      () => fail(new UnreachableError(`no connection within ${Math.round(limitMs)} ms`)),
      limitMs,
    )
    socket.once('connect', () => {
      connected = true
    })
    // Stays: a socket that fails again while it is being destroyed must not bring the process down.
    socket.on('error', (error) => fail(connected ? error : new UnreachableError(error.message, { cause: error })))
    const closed = () => fail(new UnreachableError('connection closed during the TLS handshake'))
    socket.once('close', closed)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      if (settled) return
      settle()
      socket.off('close', closed)
      resolve(socket)
    })
    deadline.tell(fail)
  })
}

async function lookUp(
  host: string,
  lookup: (host: string) => Promise<readonly string[]>,
  deadline: Deadline,
): Promise<readonly string[]> {
  const given = Promise.withResolvers<never>()
  // The lookup itself cannot be stopped: it ends when the system's resolver gives up.
  const timer = setTimeout(() => given.reject(new Error(`no answer from DNS within ${LOOKUP_MS} ms`)), LOOKUP_MS)
  deadline.tell(given.reject)
  try {
    const addresses = await Promise.race([lookup(host), given.promise])
    if (addresses.length === 0) throw new Error(`${host} has no address`)
    return addresses
  } finally {
    clearTimeout(timer)
    deadline.tellNobody()
  }
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await dns.lookup(host, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}
