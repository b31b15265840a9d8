import { linked } from '@waldo/environment'
import { type ApprovalPolicy, policyName } from '../approvals/approval-policy.ts'
import type { Approval } from '../approvals/approvals.ts'
import { type DecisionKind, decisionLabel, type ReviewDecision } from '../approvals/review-decision.ts'
import type { Why } from '../orchestrator/requirement.ts'
import { isAskedAbout } from './asked-hosts.ts'
import { deniedText } from './blocked-text.ts'
import type { NetworkDenial } from './network-denial.ts'
import type { NetworkExecution, NetworkServices } from './network-execution.ts'
import { describeHost, type NetworkTarget, schemeOf } from './network-target.ts'

export interface Outcome {
  readonly allowed: boolean
  /** For people. */
  readonly reason: string
  /** Absent if the command may go on: it was allowed, or has given up by itself. */
  readonly denial?: NetworkDenial
}

type NetworkAmendment = Extract<ReviewDecision, { kind: 'network_policy_amendment' }>

/** One question about one target. */
export class NetworkQuestion {
  readonly #target: NetworkTarget
  readonly #execution: NetworkExecution
  readonly #services: NetworkServices

  constructor(target: NetworkTarget, execution: NetworkExecution, services: NetworkServices) {
    this.#target = target
    this.#execution = execution
    this.#services = services
  }

  /** Never rejects. `request` aborts when the one whose question it is has gone. */
  async ask(request: AbortSignal): Promise<Outcome> {
    const { now } = this.#services
    const { signal: turn } = this.#execution
    const start = now()
    const asking = linked(request, turn)
    try {
      const approval = await this.#put(asking.signal)
      if (request.aborted && !turn.aborted) {
        const ms = Math.round(now() - start)
        return no('blocked', `Network request disconnected after ${ms} ms, before approval could complete`)
      }
      return await this.#outcome(approval)
    } catch (error) {
      return this.#denied('blocked', `asking failed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      asking.release()
    }
  }

  #put(signal: AbortSignal): Promise<Approval> {
    const { callId, turnId, environmentId, command, sandbox, approvalPolicy, domains } = this.#execution
    const { host, port, protocol } = this.#target
    const isNamed = isAskedAbout(this.#target, domains)
    const lasting: readonly DecisionKind[] = isNamed ? [] : ['network_policy_amendment']
    return this.#services.approvals.ask(
      {
        ...{ callId, turnId, environmentId, sandbox, isRetry: false },
        subject: { kind: 'network', host, port, protocol: schemeOf(protocol), command },
        reason: `${isNamed ? 'a rule says to ask about' : 'no rule allows'} ${describeHost(host)}`,
        why: [isNamed ? NAMED : unnamed(approvalPolicy)],
        decisions: ['approved', 'approved_for_session', ...lasting, 'denied', 'abort'],
      },
      // What was allowed for the conversation is looked up before: a denial is stronger there.
      { tool: 'network_access', keys: [], signal },
    )
  }

  async #outcome({ decision, source }: Approval): Promise<Outcome> {
    switch (decision.kind) {
      case 'approved':
        break
      case 'approved_for_session':
        this.#services.verdicts.approve(this.#target)
        break
      case 'network_policy_amendment':
        if (decision.host.toLowerCase() !== this.#target.host) {
          return this.#denied('reviewed', `the answer was about another host, "${describeHost(decision.host)}".`)
        }
        // Before it is saved: requests that come meanwhile must find it.
        if (decision.action === 'allow') this.#services.verdicts.approve(this.#target)
        else this.#services.verdicts.deny(this.#target)
        await this.#save(decision)
        if (decision.action === 'deny') return this.#denied('reviewed', 'it is denied from now on.')
        break
      case 'approved_execpolicy_amendment':
        return this.#denied('reviewed', 'the answer was a rule for commands, not for hosts.')
      case 'denied':
        return this.#denied(
          'reviewed',
          decision.rejection ?? (source === 'user' ? 'the user said no.' : 'not approved.'),
        )
      case 'timed_out':
        return this.#denied('reviewed', 'nobody answered in time.')
      case 'abort':
        return this.#denied('stopped', 'the turn was stopped.')
    }
    // Somebody else may have been asked about the same at the same time.
    if (this.#services.verdicts.about(this.#target) === 'denied') {
      return this.#denied('reviewed', 'it was denied for this conversation meanwhile.')
    }
    return { allowed: true, reason: decisionLabel(decision) }
  }

  async #save({ action, scope }: NetworkAmendment): Promise<void> {
    const { callId, turnId } = this.#execution
    const { host, protocol } = this.#target
    try {
      await this.#services.saveRule(host, protocol, action, scope)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const text = `the rule to ${action} "${describeHost(host)}" was not saved, and holds for this conversation only: ${why}`
      this.#services.events.emit({ type: 'warning', callId, turnId, text })
    }
  }

  #denied(kind: NetworkDenial['kind'], text: string): Outcome {
    return no(kind, deniedText(this.#target, text))
  }
}

function no(kind: NetworkDenial['kind'], text: string): Outcome {
  return { allowed: false, reason: text, denial: { kind, text } }
}

const NAMED: Why = {
  source: 'rule',
  text: 'the rules and settings of this conversation ask about this host, whatever else allows it',
  otherwise: 'an answer for the conversation',
}

function unnamed(policy: ApprovalPolicy): Why {
  return {
    source: 'approval-policy',
    text: `the approval policy "${policyName(policy)}" asks about hosts that no rule allows`,
    otherwise: 'a saved rule for the host, or an answer for the conversation',
  }
}
