import { ExecError } from '@waldo/environment'
import type { EnvironmentInfo, InitializeResult } from '@waldo/protocol'
import { type Connect, Peer, type PeerEvents, type Transport } from '@waldo/rpc'

const CONNECT_MS = 10_000
const INITIALIZE_MS = 10_000
const INFO_MS = 30_000

export interface ConnectOptions {
  /** Where to, for messages: a URL or a command. */
  readonly name: string
  readonly connect: Connect
  readonly connectTimeoutMs?: number | undefined
  readonly initializeTimeoutMs?: number | undefined
}

/** A connection on which hands have been shaken. */
export interface LiveConnection {
  readonly peer: Peer
  readonly transport: Transport
  readonly sessionId: string
  readonly info: EnvironmentInfo
}

/** Connects and shakes hands, for a new session or one that is to go on. Leaves nothing behind if it fails. */
export async function openConnection(
  { name, connect, connectTimeoutMs = CONNECT_MS, initializeTimeoutMs = INITIALIZE_MS }: ConnectOptions,
  resumeSessionId: string | null,
  events: PeerEvents,
  signal: AbortSignal,
): Promise<LiveConnection> {
  const peer = new Peer(events)
  const transport = await within(connectTimeoutMs, `connecting to ${name}`, signal, (limit) =>
    connect(peer, limit).catch((cause) => {
      if (limit.aborted || ExecError.is(cause)) throw cause
      throw new ExecError('CONNECT_FAILED', `cannot connect to ${name}: ${(cause as Error).message}`, { cause })
    }),
  )
  try {
    peer.attach(transport)
    const answer = await within(initializeTimeoutMs, `the handshake with ${name}`, signal, (limit) =>
      peer.call('initialize', { clientName: 'waldo', resumeSessionId }, limit),
    )
    const { sessionId, environmentInfo } = (answer ?? {}) as Partial<InitializeResult>
    if (typeof sessionId !== 'string') throw new ExecError('INTERNAL', `${name} did not name the session`)
    if (resumeSessionId !== null && sessionId !== resumeSessionId) {
      throw new ExecError('SESSION_LOST', `${name} opened another session instead of ${resumeSessionId}`)
    }
    peer.notify('initialized', {})
    const info =
      environmentInfo ??
      (await within(INFO_MS, `asking ${name} what it is`, signal, (limit) =>
        peer.call('environment/info', null, limit),
      ))
    return { peer, transport, sessionId, info: info as EnvironmentInfo }
  } catch (error) {
    await transport.close()
    throw error
  }
}

async function within<T>(
  ms: number,
  what: string,
  signal: AbortSignal,
  act: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms)
  try {
    return await act(AbortSignal.any([timeout, signal]))
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new ExecError('CONNECT_FAILED', `${what} took longer than ${ms} ms`)
    throw error
  }
}
