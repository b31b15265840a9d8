import { ErrorCode, ProtocolError } from '@waldo/protocol'
import type { ClientCalls } from './client-calls.ts'
import { ExpiryQueue } from './expiry-queue.ts'
import type { HostedProcess } from './hosted-process.ts'
import { type EventSink, Session, type SessionMachine } from './session.ts'

/** Sessions that exist at a time. Beyond it the oldest that nobody is attached to and that holds nothing has to go. */
const MAX_SESSIONS = 10_000

export interface SessionTimes {
  /** How long a session outlives its connection. */
  readonly detachedTtlMs: number
  /** How long an ended process stays readable. */
  readonly receiptTtlMs: number
}

/** A connection, as far as its session goes. */
export interface Attachment {
  readonly sink: EventSink
  readonly client: ClientCalls
  /** Whether the other side is there: it answers, or it does not within a moment. */
  isAlive(): Promise<boolean>
  /** Another connection has the session now. */
  evict(): void
}

/** Which sessions there are, and who is attached to them. */
export class SessionRegistry {
  readonly #machine: SessionMachine
  readonly #sessions = new Map<string, Session>()
  readonly #attached = new Map<Session, Attachment>()
  readonly #detached: ExpiryQueue<Session>
  readonly #receipts: ExpiryQueue<HostedProcess>

  constructor(machine: SessionMachine, times: SessionTimes) {
    this.#machine = machine
    this.#detached = new ExpiryQueue(times.detachedTtlMs)
    this.#receipts = new ExpiryQueue(times.receiptTtlMs)
  }

  open(attachment: Attachment): Session {
    if (this.#sessions.size >= MAX_SESSIONS && !this.#dropIdleSession()) {
      throw new ProtocolError(ErrorCode.internal, `there are ${MAX_SESSIONS} sessions already`)
    }
    const session = new Session(this.#machine, this.#receipts)
    this.#sessions.set(session.id, session)
    this.#attach(session, attachment)
    return session
  }

  /** A session that somebody is attached to is not taken from them, unless they turn out to be dead. */
  async resume(id: string, attachment: Attachment): Promise<Session> {
    const session = this.#sessions.get(id)
    if (!session) throw new ProtocolError(ErrorCode.invalidRequest, `unknown session id ${id.slice(0, 100)}`)
    const holder = this.#attached.get(session)
    if (holder) {
      const alive = await holder.isAlive()
      // Meanwhile the holder may have left, another one come, or the session ended.
      if (alive || this.#attached.get(session) !== holder) {
        if (this.#attached.has(session)) {
          throw new ProtocolError(ErrorCode.sessionAttached, `session ${id} is already attached to another connection`)
        }
        if (!this.#sessions.has(id)) throw new ProtocolError(ErrorCode.invalidRequest, `unknown session id ${id}`)
      } else {
        this.detach(session, holder)
        holder.evict()
      }
    }
    this.#detached.remove(session)
    this.#attach(session, attachment)
    return session
  }

  /** The connection is gone; the session stays for a while. */
  detach(session: Session, attachment: Attachment): void {
    if (this.#attached.get(session) !== attachment) return
    this.#attached.delete(session)
    session.detach(attachment.sink)
    if (this.#sessions.has(session.id)) this.#detached.add(session, () => this.end(session))
  }

  end(session: Session): void {
    this.#sessions.delete(session.id)
    this.#detached.remove(session)
    this.#attached.delete(session)
    session.end('session')
  }

  close(): void {
    this.#detached.close()
    this.#receipts.close()
  }

  #attach(session: Session, attachment: Attachment): void {
    this.#attached.set(session, attachment)
    session.attach(attachment)
  }

  #dropIdleSession(): boolean {
    for (const session of this.#detached) {
      if (!session.isEmpty) continue
      this.end(session)
      return true
    }
    return false
  }
}
