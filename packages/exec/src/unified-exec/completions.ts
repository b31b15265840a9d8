import { EventHub } from '../events/event-hub.ts'
import { boundaryAfter, decodeLossy, encodeUtf8 } from '../output/utf8.ts'
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
/** Of all of them in one message. */
const MESSAGE_TAIL_BYTES = 16_000
const MAX_COMMAND = 200

/** Tells that something has ended, so that nobody has to poll for it. */
export class Completions {
  readonly #store: SessionStore
  readonly #hub: EventHub<void>

  /** `failed` hears of listeners that throw. */
  constructor(store: SessionStore, failed?: (error: unknown) => void) {
    this.#store = store
    this.#hub = new EventHub(failed)
  }

  /** Told when there may be something to take. */
  onCompletion(listener: () => void): () => void {
    return this.#hub.on(listener)
  }

  watch(session: ExecSession): void {
    void this.#watch(session)
  }

  /** Those that nobody was told of, and nobody is waiting for. They count as told now. */
  async take(): Promise<readonly Completion[]> {
    const unseen = this.#store.open.filter((session) => session.hasExited && !session.isBusy)
    for (const session of unseen) {
      session.endWasTold = true
      this.#store.file(session)
    }
    return await Promise.all(
      unseen.map(async (session) => {
        const { exitCode, endedBy } = await session.ended
        const { id: sessionId, callId, command } = session.facts
        const tail = tailOf(session.output.takeUnread().output.bytes(), TAIL_BYTES)
        const why = endedBy === undefined ? {} : { endedBy }
        return { sessionId, callId, command, exitCode, ...why, durationMs: session.durationMs, tail }
      }),
    )
  }

  async #watch(session: ExecSession): Promise<void> {
    await session.ended
    // Whoever is looking at it sees that it has ended, unless they give up.
    await session.idle()
    if (this.#store.isOpen(session)) this.#hub.emit()
  }
}

/** All of them as one message to a model; undefined if there are none. */
export function completionMessage(completions: readonly Completion[]): string | undefined {
  if (completions.length === 0) return undefined
  const tailBytes = Math.min(TAIL_BYTES, Math.floor(MESSAGE_TAIL_BYTES / completions.length))
  return completions
    .map(({ sessionId, command, exitCode, endedBy, durationMs, tail }) => {
      const how = exitCode === null ? 'ended, how is not known' : `exited with code ${exitCode}`
      const why = endedBy === undefined ? '' : ` (${endedBy})`
      const after = `after ${(durationMs / 1000).toFixed(1)} seconds`
      const head = `Session ${sessionId} (${JSON.stringify(command.slice(0, MAX_COMMAND))}) ${how}${why} ${after}.`
      const end = tailOf(encodeUtf8(tail), tailBytes)
      return end === '' ? head : `${head} The end of its output:\n${end}`
    })
    .join('\n\n')
}

function tailOf(bytes: Uint8Array, maxBytes: number): string {
  // Not through a character, unless it is none.
  const from = boundaryAfter(bytes, Math.max(0, bytes.length - maxBytes))
  return decodeLossy(bytes.subarray(from))
}
