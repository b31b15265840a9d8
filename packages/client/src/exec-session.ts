import { abortable, type CallOptions, type EnvironmentStatus, ExecError, sleep } from '@waldo/environment'
import { ErrorCode, SHUTTING_DOWN } from '@waldo/protocol'
import { ConnectionClosedError, RemoteError } from '@waldo/rpc'
import { fromWireError } from './from-wire-error.ts'
import { type ConnectOptions, type LiveConnection, openConnection } from './live-connection.ts'
import { ManagedNetworks } from './managed-networks.ts'
import { NotificationRoutes } from './notification-routes.ts'
import { type Ready, type SessionState, statusOf } from './session-state.ts'
import { tell } from './tell.ts'

/** How long to try if the server does not say how long it keeps a session: less than the reference's 30 s. */
const RECOVERY_MS = 25_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000
/** For the executor to end what we leave behind. */
const GOODBYE_MS = 2_000

export interface SessionOptions extends ConnectOptions {
  /** Whether somebody can come back to a session whose connection was lost. Not on standard input and output. */
  readonly resumable: boolean
}

/** What has a part in a session: told when it goes on after a cut, and when it is lost. */
export interface Participant {
  /** On the new connection, before anybody else uses it. */
  resumed?(live: LiveConnection): Promise<void>
  /** The wire is cut; whether the session goes on is not known yet. */
  cut?(error: ExecError): void
  lost(error: ExecError): void
  /** We are leaving an executor that cannot end a session by itself. */
  leaving?(live: LiveConnection, signal: AbortSignal): Promise<unknown>
}

export interface SessionCallOptions extends CallOptions {
  /** Whether doing it twice is the same as doing it once: then a cut is nobody's business. */
  readonly resend?: boolean
  /** The session that it makes sense in, and no other. */
  readonly sessionId?: string
  /** The connection that it makes sense on, and no other. */
  readonly connection?: LiveConnection | undefined
}

/** One session on an executor: connected when it is first needed, and again whenever the wire was cut. */
export class ExecSession {
  readonly notifications = new NotificationRoutes()
  readonly networks = new ManagedNetworks()
  readonly #options: SessionOptions
  readonly #participants = new Set<Participant>()
  readonly #listeners = new Set<(status: EnvironmentStatus) => void>()
  readonly #holders = new Set<object>()
  readonly #closing = new AbortController()
  #state: SessionState = { kind: 'idle' }
  #closed: Promise<void> | undefined

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get status(): EnvironmentStatus {
    return statusOf(this.#state)
  }

  onStatus(listener: (status: EnvironmentStatus) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes part until the returned function is called. */
  join(participant: Participant): () => void {
    this.#participants.add(participant)
    return () => this.#participants.delete(participant)
  }

  /** As long as anybody holds the connection, nothing more is taken in, whoever it is for. */
  hold(holder: object, hold: boolean): void {
    if (hold) this.#holders.add(holder)
    else this.#holders.delete(holder)
    if (this.#state.kind !== 'ready') return
    const { transport } = this.#state.live
    if (this.#holders.size > 0) transport.pauseReading?.()
    else transport.resumeReading?.()
  }

  /** Connects if need be, or waits until we are back. All callers share one attempt. */
  async live({ signal }: CallOptions = {}): Promise<LiveConnection> {
    signal?.throwIfAborted()
    const state = this.#state
    switch (state.kind) {
      case 'ready':
        return state.live
      case 'connecting':
      case 'recovering':
        return await abortable(state.attempt, signal)
      case 'closed':
        throw this.#closedError()
      case 'failed':
      case 'idle':
        return await abortable(this.#connect(), signal)
    }
  }

  async call(method: string, params: unknown, options: SessionCallOptions = {}): Promise<unknown> {
    const { signal, resend = false, sessionId, connection } = options
    for (;;) {
      // A new session would be of no use.
      if (sessionId !== undefined && this.#state.kind === 'failed') throw this.#state.error
      const live = connection ?? (await this.live({ signal }))
      if (sessionId !== undefined && live.sessionId !== sessionId) {
        throw new ExecError('SESSION_LOST', `${this.name} has lost the session that this belonged to`)
      }
      try {
        return await live.peer.call(method, params, signal)
      } catch (error) {
        if (!(error instanceof ConnectionClosedError)) throw fromWireError(error, method)
        if (this.#isClosed) throw this.#closedError()
        // What would have been asked again is told why it cannot be.
        if (resend && this.#state.kind === 'failed') throw this.#state.error
        if (!resend || !this.#goesOn) throw fromWireError(error, method)
      }
    }
  }

  /** Ends the session and everything in it. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const state = this.#state
    const participants = [...this.#participants]
    const error = this.#closedError()
    // First of all: the executor hangs up when the session has ended, which is no cut.
    this.#enter({ kind: 'closed' })
    this.#closing.abort(error)
    if (state.kind === 'ready') state.live.peer.abandon(error.message)
    this.#lose(error)
    if (state.kind === 'ready') await this.#sayGoodbye(state.live, participants)
    // What is being opened is closed again before this settles.
    if ('attempt' in state) await state.attempt.catch(() => {})
  }

  async #sayGoodbye(live: LiveConnection, participants: readonly Participant[]): Promise<void> {
    const { peer, transport, info } = live
    transport.resumeReading?.()
    const signal = AbortSignal.timeout(GOODBYE_MS)
    // Best effort: what cannot be told now goes with the session when its time is up.
    await (info.capabilities?.sessionEnd
      ? peer.call('session/end', {}, signal).catch(() => {})
      : Promise.allSettled(participants.map((participant) => participant.leaving?.(live, signal))))
    await transport.close()
  }

  #connect(): Promise<LiveConnection> {
    const attempt = this.#open(null).then(
      (live) => this.#use(live),
      (cause) => {
        const error = this.#connectError(cause)
        this.#enter({ kind: 'failed', error })
        throw error
      },
    )
    this.#enter({ kind: 'connecting', attempt })
    return attempt
  }

  async #open(resumeSessionId: string | null): Promise<LiveConnection> {
    const { signal } = this.#closing
    let opened: LiveConnection | undefined
    const events = {
      notified: (method: string, params: unknown) => {
        if (method === 'network/policyDecision') this.networks.decided(params)
        else this.notifications.deliver(method, params)
      },
      asked: (method: string, params: unknown, gone: AbortSignal) =>
        method === 'network/policyRequest' ? this.networks.decide(params, gone) : undefined,
      closed: (reason: string) => {
        if (opened) this.#cut(opened, reason)
      },
    }
    opened = await openConnection(this.#options, resumeSessionId, events, signal)
    if (!signal.aborted) return opened
    await opened.transport.close()
    throw signal.reason
  }

  #use(live: LiveConnection): LiveConnection {
    this.#enter({ kind: 'ready', live, since: performance.now() })
    if (this.#holders.size > 0) live.transport.pauseReading?.()
    // It may have ended before it was in use.
    const { closedReason } = live.peer
    if (closedReason !== undefined) this.#cut(live, closedReason)
    return live
  }

  #cut(live: LiveConnection, reason: string): void {
    const state = this.#state
    // Of an earlier connection, or of one that is not in use yet: whoever is making it learns of it by itself.
    if (state.kind !== 'ready' || state.live !== live) return
    // Nobody will find the session again where it has ended on purpose.
    const ended = reason.includes(SHUTTING_DOWN)
    const message = `the connection to ${this.name} was lost: ${reason}`
    const error = new ExecError(ended ? 'SESSION_LOST' : 'DISCONNECTED', message)
    for (const participant of [...this.#participants]) participant.cut?.(error)
    if (ended || !this.#options.resumable) {
      this.#enter({ kind: 'failed', error })
      this.#lose(error)
      return
    }
    const attempt = this.#recover(state).then(
      (next) => this.#use(next),
      (cause) => {
        const why = `${error.message}; the session could not be taken up again: ${(cause as Error).message}`
        const lost = this.#isClosed ? this.#closedError() : new ExecError('SESSION_LOST', why, { cause })
        this.#enter({ kind: 'failed', error: lost })
        this.#lose(lost)
        throw lost
      },
    )
    // Nobody may be waiting for it.
    attempt.catch(() => {})
    this.#enter({ kind: 'recovering', attempt, since: new Date(), error })
  }

  async #recover({ live: { sessionId, info }, since }: Ready): Promise<LiveConnection> {
    const { signal } = this.#closing
    const retention = info.capabilities?.sessionRetention ? (info.detachedTtlMs ?? Number.POSITIVE_INFINITY) : undefined
    const deadline = performance.now() + (retention ?? RECOVERY_MS)
    // A connection that is lost as soon as it is there must not be made again and again without a pause.
    if (performance.now() - since < FIRST_PAUSE_MS) await sleep(FIRST_PAUSE_MS, signal)
    for (let pause = FIRST_PAUSE_MS; ; pause = retention === undefined ? pause : Math.min(pause * 1.5, MAX_PAUSE_MS)) {
      try {
        return await this.#resume(sessionId)
      } catch (error) {
        if (signal.aborted || !isRetryable(error) || performance.now() + pause > deadline) throw error
      }
      await sleep(pause, signal)
    }
  }

  async #resume(sessionId: string): Promise<LiveConnection> {
    const live = await this.#open(sessionId)
    try {
      await Promise.all([...this.#participants].map((participant) => participant.resumed?.(live)))
      return live
    } catch (error) {
      await live.transport.close()
      throw error
    }
  }

  #lose(error: ExecError): void {
    for (const participant of [...this.#participants]) participant.lost(error)
    this.#participants.clear()
    this.notifications.clear()
    this.networks.clear()
    this.#holders.clear()
  }

  get #isClosed(): boolean {
    return this.#state.kind === 'closed'
  }

  get #goesOn(): boolean {
    return this.#state.kind === 'recovering' || this.#state.kind === 'ready'
  }

  #closedError(): ExecError {
    return new ExecError('CLOSED', `${this.name} was closed`)
  }

  #connectError(cause: unknown): ExecError {
    if (ExecError.is(cause)) return cause
    return new ExecError('CONNECT_FAILED', `cannot connect to ${this.name}: ${(cause as Error).message}`, { cause })
  }

  #enter(state: SessionState): void {
    if (this.#isClosed) return
    this.#state = state
    const { status } = this
    for (const listener of [...this.#listeners]) tell(listener, status)
  }
}

/** Whether another attempt may do better. */
function isRetryable(error: unknown): boolean {
  if (error instanceof RemoteError) return error.code === ErrorCode.sessionAttached
  if (error instanceof ConnectionClosedError) return true
  return ExecError.is(error, 'CONNECT_FAILED') || ExecError.is(error, 'DISCONNECTED')
}
