import {
  abortable,
  type ManagedNetwork,
  type NetworkDecision,
  type NetworkRequest,
  type NetworkVerdict,
} from '@waldo/environment'
import { mayAskForSandbox } from '../approvals/approval-policy.ts'
import { canonicalJson } from '../approvals/canonical-json.ts'
import { blockedByPolicy, blockedText, deniedText } from './blocked-text.ts'
import { DenialRecord, type NetworkDenial } from './network-denial.ts'
import type { ExecutionNetwork, NetworkExecution, NetworkServices } from './network-execution.ts'
import { NetworkQuestion, type Outcome } from './network-question.ts'
import { describeHost, type NetworkTarget, networkTarget } from './network-target.ts'

/** People take their time. The program that waits has limits of its own. */
const DECIDE_MS = 60 * 60_000
/** Requests of one execution that wait for an answer. */
const MAX_WAITING = 256

/** The network of one execution: what its process wants is decided here, and it is told apart from all others by that. */
export class DecidedNetwork implements ExecutionNetwork {
  readonly network: ManagedNetwork
  readonly #execution: NetworkExecution
  readonly #services: NetworkServices
  readonly #record: DenialRecord
  /** One for each target: who wants the same meanwhile waits for the same answer. */
  readonly #questions = new Map<string, Promise<Outcome>>()
  #waiting = 0

  constructor(execution: NetworkExecution, services: NetworkServices) {
    this.#execution = execution
    this.#services = services
    this.#record = new DenialRecord(services.failed)
    const { domains, mode, allowLocalBinding, enableSocks5, allowUpstreamProxy, enforce, decideTimeoutMs } = execution
    this.network = {
      ...{ domains, mode, allowLocalBinding, enableSocks5, allowUpstreamProxy, enforce },
      decideTimeoutMs: decideTimeoutMs ?? DECIDE_MS,
      decide: (request, signal) => this.#decide(request, signal),
      onDecision: (decision) => this.#heard(decision),
    }
  }

  denial(): string | undefined {
    return this.#record.text
  }

  onDenied(listener: (denial: NetworkDenial) => void): () => void {
    return this.#record.onDenied(listener)
  }

  async #decide(request: NetworkRequest, signal: AbortSignal): Promise<NetworkVerdict> {
    const target = networkTarget(this.#execution.environmentId, request)
    const { allowed, reason, denial } = await this.#judge(target, signal)
    if (denial) this.#record.record(denial)
    this.#tell(target, allowed, reason)
    // The process is not to be trusted with what somebody wrote for the model.
    return allowed ? 'allow' : { deny: denial?.kind === 'blocked' ? 'not_allowed' : 'not_approved' }
  }

  async #judge(target: NetworkTarget, signal: AbortSignal): Promise<Outcome> {
    const known = this.#services.verdicts.about(target)
    if (known === 'denied') return blocked(deniedText(target, 'it was denied for this conversation before.'))
    if (known === 'approved') return { allowed: true, reason: 'approved for this conversation' }
    const { approvalPolicy, signal: turn } = this.#execution
    if (turn.aborted || !mayAskForSandbox(approvalPolicy)) return blocked(blockedByPolicy(target))
    if (this.#waiting >= MAX_WAITING) {
      return blocked(deniedText(target, `${MAX_WAITING} requests of this command are waiting for an answer already.`))
    }
    this.#waiting++
    try {
      return await this.#answer(target, signal)
    } finally {
      this.#waiting--
    }
  }

  async #answer(target: NetworkTarget, signal: AbortSignal): Promise<Outcome> {
    const key = canonicalJson(target)
    const open = this.#questions.get(key)
    if (open) {
      try {
        return await abortable(open, signal)
      } catch {
        // The question never fails: it is this request that is gone, and the others go on waiting.
        return { allowed: false, reason: 'the request was given up' }
      }
    }
    const asked = new NetworkQuestion(target, this.#execution, this.#services).ask(signal)
    this.#questions.set(key, asked)
    try {
      return await asked
    } finally {
      this.#questions.delete(key)
    }
  }

  /** What the executor decided. Of what it asked us about we know already, unless the answer was lost on its way. */
  #heard({ decision, source, host, port, protocol, reason }: NetworkDecision): void {
    const allowed = decision === 'allow'
    const text = allowed ? reason : blockedText(host, reason)
    const isNews = !allowed && this.#record.record({ kind: 'blocked', text })
    if (source !== 'decider' || isNews) this.#tell({ host, port, protocol }, allowed, text)
  }

  #tell({ host, port, protocol }: Omit<NetworkTarget, 'environmentId'>, allowed: boolean, reason: string): void {
    const { callId, turnId, environmentId } = this.#execution
    this.#services.events.emit({
      type: 'network_decided',
      ...{ callId, turnId, environmentId, host: describeHost(host), port, protocol, allowed, reason },
    })
  }
}

function blocked(text: string): Outcome {
  return { allowed: false, reason: text, denial: { kind: 'blocked', text } }
}
