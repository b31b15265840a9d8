import type { Amendment } from '../orchestrator/requirement.ts'
import type { AmendmentScope } from '../policy/command-policy.ts'

/** What somebody said to a question. */
export type ReviewDecision =
  /** This once. */
  | { readonly kind: 'approved' }
  /** Until the conversation ends, for the same thing. */
  | { readonly kind: 'approved_for_session' }
  /** From now on, for everything that begins so: the rule is saved first. */
  | { readonly kind: 'approved_execpolicy_amendment'; readonly amendment: Amendment; readonly scope: AmendmentScope }
  /** From now on, for this host. `deny` also answers the question. */
  | {
      readonly kind: 'network_policy_amendment'
      readonly host: string
      readonly action: 'allow' | 'deny'
      readonly scope: AmendmentScope
    }
  /** The model is told, and goes on. */
  | { readonly kind: 'denied'; readonly rejection?: string }
  /** Nobody answered in time. The model is told, and goes on. */
  | { readonly kind: 'timed_out' }
  /** The turn is over. */
  | { readonly kind: 'abort' }

export type DecisionKind = ReviewDecision['kind']

/** Who decided. */
export type DecisionSource = 'config' | 'user' | 'automatic'

/** What telemetry calls it: the same decision is told apart where it means something else. */
export function decisionLabel(decision: ReviewDecision): string {
  switch (decision.kind) {
    case 'approved_execpolicy_amendment':
      return 'approved_with_amendment'
    case 'network_policy_amendment':
      return decision.action === 'allow' ? 'approved_with_network_policy_allow' : 'denied_with_network_policy_deny'
    default:
      return decision.kind
  }
}
