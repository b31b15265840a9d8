import { abortable } from '@waldo/environment'
import type { EventHub } from '../events/event-hub.ts'
import { ApprovalCache } from './approval-cache.ts'
import type { ApprovalRequest, Approver } from './approver.ts'
import { checkedDecision } from './checked-decision.ts'
import type { Pauses } from './pauses.ts'
import type { DecisionSource, ReviewDecision } from './review-decision.ts'

/** Nobody reads more than that; and whoever asks so often is not a person's agent any more. */
const MAX_OPEN = 64

export interface ApprovalsOptions {
  /** In the order in which they are asked: hooks, programs that decide, people. */
  readonly approvers: readonly Approver[]
  readonly events: EventHub
  readonly pauses: Pauses
  readonly newId?: () => string
  readonly now?: () => Date
}

export interface AskOptions {
  readonly tool: string
  /** What an answer for the conversation would cover. None: it is asked every time. */
  readonly keys: readonly unknown[]
  readonly signal: AbortSignal
}

export interface Approval {
  readonly decision: ReviewDecision
  readonly source: DecisionSource
  /** It was allowed before, and nobody was asked. */
  readonly cached: boolean
}

/** Asks for one conversation. Whatever goes wrong on the way to an answer is a no. */
export class Approvals {
  readonly #approvers: readonly Approver[]
  readonly #events: EventHub
  readonly #pauses: Pauses
  readonly #newId: () => string
  readonly #now: () => Date
  readonly #cache = new ApprovalCache()
  #open = 0

  constructor({ approvers, events, pauses, newId, now }: ApprovalsOptions) {
    this.#approvers = approvers
    this.#events = events
    this.#pauses = pauses
    this.#newId = newId ?? (() => crypto.randomUUID())
    this.#now = now ?? (() => new Date())
  }

  /** One `approval_decided` for each call, with the id of the question if one was asked. */
  async ask(question: Omit<ApprovalRequest, 'id' | 'askedAt'>, { tool, keys, signal }: AskOptions): Promise<Approval> {
    const { callId, turnId } = question
    const tell = (approval: Approval, requestId?: string): Approval => {
      const { decision, source } = approval
      const about = requestId === undefined ? {} : { requestId }
      this.#events.emit({ type: 'approval_decided', callId, turnId, tool, ...about, decision, source })
      return approval
    }
    if (signal.aborted) return tell(ABORTED)
    if (this.#cache.covers(keys)) {
      return tell({ decision: { kind: 'approved_for_session' }, source: 'user', cached: true })
    }
    if (this.#open >= MAX_OPEN) {
      return tell(denied(`${MAX_OPEN} questions are waiting for an answer already; wait for them before asking more`))
    }
    const request: ApprovalRequest = { ...question, id: this.#newId(), askedAt: this.#now() }
    this.#open++
    this.#events.emit({ type: 'approval_asked', callId, turnId, tool, request })
    let approval: Approval
    try {
      approval = await this.#pauses.during(() => this.#decide(request, signal))
    } catch (error) {
      approval = failed(error, 'config')
    } finally {
      this.#open--
    }
    // An answer that comes together with the end of the turn allows nothing any more.
    if (signal.aborted) approval = ABORTED
    // Only what a person said is remembered: programs judge each call by itself, and are there to be asked again.
    if (approval.decision.kind === 'approved_for_session' && approval.source === 'user') this.#cache.add(keys)
    return tell(approval, request.id)
  }

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    for (const approver of this.#approvers) {
      const { source } = approver
      try {
        // What it throws at once is no different from what it throws later.
        const answer = (async () => approver.ask(request, signal))()
        const decision = await abortable(answer, signal)
        if (decision !== undefined) return { decision: checkedDecision(decision), source, cached: false }
      } catch (error) {
        return signal.aborted ? ABORTED : failed(error, source)
      }
    }
    return denied('it needs an approval, and nobody could be asked; do what you can without it')
  }
}

const ABORTED: Approval = { decision: { kind: 'abort' }, source: 'user', cached: false }

function denied(rejection: string, source: DecisionSource = 'config'): Approval {
  return { decision: { kind: 'denied', rejection }, source, cached: false }
}

function failed(error: unknown, source: DecisionSource): Approval {
  return denied(`asking for approval failed: ${error instanceof Error ? error.message : String(error)}`, source)
}
