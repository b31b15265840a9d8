import { decodeLossy } from '../output/utf8.ts'
import type { ExecSession } from './exec-session.ts'
import type { SessionStore } from './session-store.ts'

/** A process that has ended while nobody was looking. */
export interface Completion {
  readonly sessionId: number
  readonly callId: string
  readonly command: string
  /** Null if nobody knows. */
  readonly exitCode: number | null
  readonly endedBy?: string
  readonly durationMs: number
  /** The end of what it said. */
  readonly tail: string
}

const TAIL_BYTES = 2000
const MAX_COMMAND = 200

/** Tells that something has ended, so that nobody has to poll for it. */
export class Completions {
  readonly #store: SessionStore
  readonly #listeners = new Set<() => void>()

  constructor(store: SessionStore) {
    this.#store = store
  }

  /** Told when there may be something to take. */
  onCompletion(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  watch(session: ExecSession): void {
    void session.ended.then(() => this.#tell(session))
  }

  /** Those that nobody was told of, and nobody is waiting for. They count as told now. */
  async take(): Promise<readonly Completion[]> {
    const unseen = this.#store.open.filter((session) => session.hasExited && !session.isBusy)
    return await Promise.all(
      unseen.map(async (session) => {
        this.#store.file(session)
        const { exitCode, endedBy } = await session.ended
        const { id: sessionId, callId, command } = session.facts
        const tail = decodeLossy(session.takeUnread().output.tail().subarray(-TAIL_BYTES))
        const why = endedBy === undefined ? {} : { endedBy }
        return { sessionId, callId, command, exitCode, ...why, durationMs: session.durationMs, tail }
      }),
    )
  }

  #tell(session: ExecSession): void {
    if (!this.#store.isOpen(session) || session.isBusy) return
    for (const listener of [...this.#listeners]) listener()
  }
}

/** All of them as one message to a model; undefined if there are none. */
export function completionMessage(completions: readonly Completion[]): string | undefined {
  if (completions.length === 0) return undefined
  return completions
    .map(({ sessionId, command, exitCode, endedBy, durationMs, tail }) => {
      const how = exitCode === null ? 'ended, how is not known' : `exited with code ${exitCode}`
      const why = endedBy === undefined ? '' : ` (${endedBy})`
      const after = `after ${(durationMs / 1000).toFixed(1)} seconds`
      const head = `Session ${sessionId} (${JSON.stringify(command.slice(0, MAX_COMMAND))}) ${how}${why} ${after}.`
      return tail === '' ? head : `${head} The end of its output:\n${tail}`
    })
    .join('\n\n')
}
