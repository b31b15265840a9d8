import { type CallOptions, ExecError, type ProcessEvent } from '@waldo/environment'
import type { ProcessReadResult } from '@waldo/protocol'
import type { EventSource, ProcessEnd } from './event-source.ts'
import { exitVerdict } from './exit-verdict.ts'
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

  constructor(read: ReadPage) {
    this.#read = read
  }

  async *events(after: number, { signal }: CallOptions): AsyncGenerator<ProcessEvent> {
    let last = after
    // Whether the exit comes after the place where we begin is not known; a first gap tells.
    let exitSeen = false
    let next: Question | undefined
    let guess: Question | undefined
    let usual = 0
    for (;;) {
      next ??= this.#ask(last, signal)
      const page = await next.page
      next = undefined
      const { length } = page.chunks
      if (charactersOf(page) > PAGE_BYTES / 2) {
        // While a long page is decoded and read the next is on its way; not more, so that a slow reader is waited for.
        // After a short one the next may be long in coming, and the reader may have seen what it was waiting for.
        const end = page.nextSeq - 1
        next = guess?.after === end ? guess : this.#ask(end, signal)
        // Where the one after that begins is known if all pages are alike; otherwise nobody looks at it.
        guess = length === usual ? this.#ask(end + length, signal) : undefined
      } else guess = undefined
      usual = length
      const events = decode(page, last, exitSeen)
      last = events.at(-1)?.seq ?? last
      exitSeen ||= events.some(({ type }) => type === 'exited')
      yield* events
      if (events.at(-1)?.type === 'closed') return
    }
  }

  #ask(after: number, signal: AbortSignal | undefined): Question {
    const page = this.#read({ afterSeq: after, maxBytes: PAGE_BYTES, waitMs: WAIT_MS }, { signal })
    page.catch(() => {}) // It is waited for in its turn, or not at all.
    return { after, page }
  }

  async ended({ signal }: CallOptions): Promise<ProcessEnd> {
    for (;;) {
      const page = await this.#read({ afterSeq: NEVER, maxBytes: 1, waitMs: WAIT_MS }, { signal })
      if (page.closed) return { exitCode: page.exitCode ?? -1, ...exitVerdict(page) }
    }
  }
}

interface Question {
  readonly after: number
  readonly page: Promise<ProcessReadResult>
}

function decode(page: ProcessReadResult, after: number, exitSeen: boolean): ProcessEvent[] {
  try {
    return [...eventsOfPage(page, after, exitSeen)]
  } catch (error) {
    throw new ExecError('PROCESS_LOST', (error as Error).message, { cause: error })
  }
}

function charactersOf({ chunks }: ProcessReadResult): number {
  return chunks.reduce((sum, { chunk }) => sum + chunk.length, 0)
}
