import type { ProcessEvent } from '@waldo/environment'
import type { Pauses } from '../approvals/pauses.ts'
import type { ExecSession } from './exec-session.ts'
import type { Until } from './until.ts'
import { UntilWatch } from './until-watch.ts'

/** How long nothing may follow a line that has not ended until it counts as it stands. A prompt never ends. */
const UNENDED_LINE_MS = 100

export interface WaitOptions {
  readonly ms: number
  readonly until?: Until | undefined
  /** Where in its log begins what may be what is waited for. */
  readonly since: number
  /** While a person is being asked, time stands still. */
  readonly pauses: Pauses
  readonly signal: AbortSignal
  readonly now: () => number
}

/**
 * Resolves when the process has ended and everything it said is here, when what is waited for has come, or when the time
 * is over. Output alone does not end it. Rejects if the signal aborts; the process goes on.
 */
export function waitForSession(session: ExecSession, options: WaitOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const wait = new Wait(session, options, resolve, reject)
    wait.begin()
  })
}

class Wait {
  readonly #session: ExecSession
  readonly #options: WaitOptions
  readonly #resolve: () => void
  readonly #reject: (reason: unknown) => void
  readonly #undo: (() => void)[] = []
  readonly #watch: UntilWatch
  #remainingMs: number
  #idleMs: number
  #armedAt: number | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isEnding = false

  constructor(session: ExecSession, options: WaitOptions, resolve: () => void, reject: (reason: unknown) => void) {
    this.#session = session
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.#watch = new UntilWatch(options.until)
    this.#remainingMs = options.ms
    this.#idleMs = this.#allowedIdleMs
  }

  begin(): void {
    const { pauses, signal, since } = this.#options
    if (signal.aborted) {
      this.#reject(signal.reason)
      return
    }
    if (this.#watch.sees(this.#session.output.log, since) || this.#session.isClosed) {
      this.#finish(this.#resolve)
      return
    }
    this.#idleMs = this.#allowedIdleMs
    const abort = () => this.#finish(() => this.#reject(signal.reason))
    signal.addEventListener('abort', abort)
    this.#undo.push(
      () => signal.removeEventListener('abort', abort),
      this.#session.onEvent((event) => this.#happened(event)),
      pauses.onChange(() => this.#arm()),
    )
    if (this.#session.hasExited) this.#exited()
    else this.#arm()
  }

  #happened(event: ProcessEvent | undefined): void {
    const isOver = event === undefined || event.type === 'closed'
    if (isOver || (event.type === 'output' && this.#watch.push(event.data))) {
      this.#finish(this.#resolve)
    } else if (event.type === 'exited') {
      this.#exited()
    } else if (this.#idleMs !== Number.POSITIVE_INFINITY || this.#watch.mayHaveCome) {
      this.#spend()
      this.#idleMs = this.#allowedIdleMs
      // A timer that is set anew with every piece of an output that never pauses would never go off.
      if (this.#remainingMs > 0) this.#arm()
      else this.#finish(this.#resolve)
    }
  }

  /** How long nothing may be said. */
  get #allowedIdleMs(): number {
    if (this.#options.until?.kind === 'idle') return this.#options.until.ms
    return this.#watch.mayHaveCome ? UNENDED_LINE_MS : Number.POSITIVE_INFINITY
  }

  /** The session knows how long what it has said may still take. Nobody's question is in the way of that. */
  #exited(): void {
    this.#isEnding = true
    clearTimeout(this.#timer)
    void this.#session.ended.then(() => this.#finish(this.#resolve))
  }

  #arm(): void {
    this.#spend()
    clearTimeout(this.#timer)
    if (this.#options.pauses.isPaused || this.#isEnding) return
    this.#armedAt = this.#options.now()
    const ms = Math.max(0, Math.min(this.#remainingMs, this.#idleMs))
    this.#timer = setTimeout(() => this.#finish(this.#resolve), ms)
  }

  /** Takes off what has passed since the clock was started. */
  #spend(): void {
    if (this.#armedAt === undefined) return
    const passed = this.#options.now() - this.#armedAt
    this.#armedAt = undefined
    this.#remainingMs -= passed
    this.#idleMs -= passed
  }

  #finish(settle: () => void): void {
    clearTimeout(this.#timer)
    for (const undo of this.#undo.splice(0)) undo()
    this.#watch.end()
    settle()
  }
}
