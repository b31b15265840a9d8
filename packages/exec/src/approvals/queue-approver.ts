import { EventHub } from '../events/event-hub.ts'
import type { ApprovalRequest, Approver } from './approver.ts'
import { checkedDecision } from './checked-decision.ts'
import type { ReviewDecision } from './review-decision.ts'

const MAX_WAITING = 1_000
/** How many of those that are over it can tell apart from those that never were. */
const MAX_REMEMBERED = 1_000

interface Waiting {
  readonly request: ApprovalRequest
  readonly leave: (how: Ending) => void
  readonly answer: (decision: ReviewDecision) => void
}
type Ending = 'has been decided already' | 'is not wanted any more: whoever asked has given up'

/**
 * Questions that wait until somebody comes to answer them, from any number of conversations. They wait as long as this
 * object lives, or until whoever asked gives up.
 */
export class QueueApprover implements Approver {
  readonly source = 'user'
  readonly #waiting = new Map<string, Waiting>()
  readonly #over = new Map<string, Ending>()
  readonly #changes: EventHub<void>

  /** `failed` hears of listeners that throw: that must not change what is decided. */
  constructor(failed?: (error: unknown) => void) {
    this.#changes = new EventHub(failed)
  }

  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ReviewDecision> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const { id } = request
      if (this.#waiting.has(id)) throw new Error(`a question with the id "${id}" is waiting already`)
      if (this.#waiting.size >= MAX_WAITING) {
        throw new Error(`${MAX_WAITING} questions are waiting for an answer already; decide some of them first`)
      }
      const abort = () => {
        leave('is not wanted any more: whoever asked has given up')
        reject(signal.reason)
      }
      const leave = (how: Ending) => {
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(id)
        this.#remember(id, how)
        this.#changes.emit()
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#over.delete(id)
      this.#waiting.set(id, { request, leave, answer: resolve })
      this.#changes.emit()
    })
  }

  /** Those that wait, the oldest first. */
  list(): readonly ApprovalRequest[] {
    return [...this.#waiting.values()].map(({ request }) => request)
  }

  /** Throws if nothing with this id waits, and for what is no decision: then it goes on waiting. */
  decide(id: string, decision: ReviewDecision): void {
    const checked = checkedDecision(decision)
    const waiting = this.#waiting.get(id)
    if (!waiting) throw new Error(`the question "${id}" ${this.#over.get(id) ?? 'is not known here'}`)
    waiting.answer(checked)
    waiting.leave('has been decided already')
  }

  /** Told after every change of `list()`. Returns how to stop that. */
  onChange(listener: () => void): () => void {
    return this.#changes.on(listener)
  }

  #remember(id: string, how: Ending): void {
    this.#over.set(id, how)
    for (const oldest of this.#over.keys()) {
      if (this.#over.size <= MAX_REMEMBERED) break
      this.#over.delete(oldest)
    }
  }
}
