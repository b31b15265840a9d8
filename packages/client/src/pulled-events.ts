import { type CallOptions, ExecError, type ProcessEvent } from '@waldo/environment'
import type { ProcessReadResult } from '@waldo/protocol'
import type { EventSource } from './event-source.ts'
import { eventsOfPage } from './page-events.ts'

/** Enough to keep a distant link busy; little enough to be held twice. */
const PAGE_BYTES = 2 * 1024 * 1024
/** How long one question stays open. */
const WAIT_MS = 25_000
/** After every event there will ever be: a question that only the end answers. */
const NEVER = Number.MAX_SAFE_INTEGER

export type ReadPage = (
  question: { afterSeq: number; maxBytes: number; waitMs: number },
  options: CallOptions,
) => Promise<ProcessReadResult>

/**
 * Events that we ask for. The executor keeps them, so nothing piles up here, every reader has its own place, and after a
 * cut the same question is simply asked again.
 */
export class PulledEvents implements EventSource {
  readonly #read: ReadPage
  readonly #lost = new AbortController()

  constructor(read: ReadPage) {
    this.#read = read
  }

  async *events(after: number, { signal }: CallOptions): AsyncGenerator<ProcessEvent> {
    let last = after
    // Whether the exit comes after the place where we begin is not known; a first gap tells.
    let exitSeen = false
    const ask = (afterSeq: number) => this.#ask({ afterSeq, maxBytes: PAGE_BYTES, waitMs: WAIT_MS }, signal)
    let question = ask(last)
    try {
      for (;;) {
        const page = await question
        const events: ProcessEvent[] = this.#decode(page, last, exitSeen)
        last = events.at(-1)?.seq ?? last
        exitSeen ||= events.some(({ type }) => type === 'exited')
        const closed = events.at(-1)?.type === 'closed'
        // The next page is on its way while this one is being read; not more, so that a slow reader is waited for.
        if (!closed) question = ask(last)
        question.catch(() => {})
        yield* events
        if (closed) return
      }
    } finally {
      question.catch(() => {})
    }
  }

  async ended({ signal }: CallOptions): Promise<{ exitCode: number; sandboxDenied: boolean }> {
    for (;;) {
      const page = await this.#ask({ afterSeq: NEVER, maxBytes: 1, waitMs: WAIT_MS }, signal)
      if (page.closed) return { exitCode: page.exitCode ?? -1, sandboxDenied: page.sandboxDenied }
    }
  }

  lost(error: ExecError): void {
    this.#lost.abort(error)
  }

  async #ask(question: Parameters<ReadPage>[0], signal: AbortSignal | undefined): Promise<ProcessReadResult> {
    const signals = signal ? [signal, this.#lost.signal] : [this.#lost.signal]
    return await this.#read(question, { signal: AbortSignal.any(signals) })
  }

  #decode(page: ProcessReadResult, after: number, exitSeen: boolean): ProcessEvent[] {
    try {
      return [...eventsOfPage(page, after, exitSeen)]
    } catch (error) {
      throw new ExecError('PROCESS_LOST', (error as Error).message, { cause: error })
    }
  }
}
