import { InvalidCall } from '../conversation/invalid-call.ts'
import type { ExecSession } from './exec-session.ts'
import type { SessionIds } from './session-ids.ts'

export const MAX_SESSIONS = 64
export const WARNING_SESSIONS = 60
/** Whatever happens, the ones that were just used stay. */
const PROTECTED_SESSIONS = 8
/** Ended ones that are still known by their number. */
const MAX_ENDED = 128

/**
 * The processes of a conversation: the open ones, which run or have ended without anybody being told, and the last ones
 * whose end was told. A number stands for one process until that one is forgotten.
 */
export class SessionStore {
  readonly #ids: SessionIds
  /** The one that was used last comes last. */
  readonly #open = new Map<number, ExecSession>()
  readonly #ended = new Map<number, ExecSession>()
  #isClosed = false

  constructor(ids: SessionIds) {
    this.#ids = ids
  }

  /** Nothing may begin any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get openCount(): number {
    return this.#open.size
  }

  get open(): readonly ExecSession[] {
    return [...this.#open.values()].sort((a, b) => a.facts.id - b.facts.id)
  }

  /**
   * It is in from the first moment, so that no interrupt can make us forget it, and its number is the store's from now
   * on. Returns who has to go for it: they are out already, but nobody was told of their end.
   */
  add(session: ExecSession): readonly ExecSession[] {
    const leaving: ExecSession[] = []
    while (this.#open.size >= MAX_SESSIONS) {
      const next = this.#whoLeaves()
      // All of them are being waited for: then there are more for a moment.
      if (!next) break
      this.file(next)
      leaving.push(next)
    }
    this.#open.set(session.facts.id, session)
    return leaving
  }

  used(session: ExecSession): void {
    if (!this.isOpen(session)) return
    this.#open.delete(session.facts.id)
    this.#open.set(session.facts.id, session)
  }

  isOpen(session: ExecSession): boolean {
    return this.#open.get(session.facts.id) === session
  }

  /** Also one that has ended. Throws for a number that never was one, or not for a long time. */
  get(id: number): ExecSession {
    const session = this.#open.get(id) ?? this.#ended.get(id)
    if (!session) throw new InvalidCall(`Unknown process id ${id}`)
    return session
  }

  /** It makes room, and can still be asked for. */
  file(session: ExecSession): void {
    if (!this.isOpen(session)) return
    this.#open.delete(session.facts.id)
    this.#ended.set(session.facts.id, session)
    for (const [id, oldest] of this.#ended) {
      if (this.#ended.size <= MAX_ENDED) break
      // It had to leave and takes a moment to end: whoever follows it now would not be told of that.
      if (!oldest.hasExited) continue
      this.#ended.delete(id)
      oldest.letGo()
      // Only now may another be called so.
      this.#ids.release(id)
    }
  }

  /** As if it had never been. True if its number goes back to whoever had it before; otherwise it is gone. */
  withdraw(session: ExecSession): boolean {
    session.letGo()
    return [this.#open, this.#ended].some((sessions) => {
      return sessions.get(session.facts.id) === session && sessions.delete(session.facts.id)
    })
  }

  /** Nobody will ask for any of them. Who is to end has to be ended before. */
  close(): void {
    this.#isClosed = true
    for (const sessions of [this.#open, this.#ended]) {
      for (const [id, session] of sessions) {
        session.letGo()
        this.#ids.release(id)
      }
      sessions.clear()
    }
  }

  /** The one that was used longest ago, of those that have ended if there are any. Not one that somebody waits for. */
  #whoLeaves(): ExecSession | undefined {
    const candidates = [...this.#open.values()].slice(0, -PROTECTED_SESSIONS)
    const ended = candidates.filter(({ hasExited }) => hasExited)
    // An ended one that is being looked at will be gone in a moment: nobody has to die for that.
    return (ended.length > 0 ? ended : candidates).find(({ isBusy }) => !isBusy)
  }
}
