import { policyName } from '../../approvals/approval-policy.ts'
import type { Why } from '../../orchestrator/requirement.ts'
import { needsSandbox } from '../../permissions/sandbox-requests.ts'
import type { Danger } from '../../script/dangerous.ts'
import type { CommandToJudge } from '../command-policy.ts'
import type { Decision } from '../rules/rule.ts'

/** What holds for a command that no rule speaks of. */
export interface Heuristic {
  readonly decision: Decision
  readonly source: Exclude<Why['source'], 'rule' | 'patch'>
  readonly text: string
  /** Of what is dangerous. */
  readonly danger?: Danger['kind']
}

export type JudgedCall = Pick<
  CommandToJudge,
  'approvalPolicy' | 'permissions' | 'hasManagedNetwork' | 'sandboxPermissions'
>

/** `danger` says what is dangerous about it, if anything is. */
export function heuristic(call: JudgedCall, danger: Danger | undefined): Heuristic {
  const { approvalPolicy } = call
  const name = policyName(approvalPolicy)
  if (danger) {
    const decision = approvalPolicy === 'never' ? 'forbidden' : 'prompt'
    return { decision, source: 'dangerous', text: danger.text, danger: danger.kind }
  }
  const override = overrideHeuristic(call)
  if (override) return override
  if (approvalPolicy === 'untrusted') {
    const text = 'under the approval policy "untrusted", everything is asked about that no rule allows'
    return { decision: 'prompt', source: 'approval-policy', text }
  }
  const text = isConfined(call)
    ? `no rule speaks of it, and under the approval policy "${name}" that is allowed inside the sandbox`
    : `no rule speaks of it, and under the approval policy "${name}" that is allowed where there is no sandbox`
  return { decision: 'allow', source: 'approval-policy', text }
}

/**
 * What holds for a call that wants more than its sandbox gives it. No rule answers this but one that says
 * `sandbox="bypass"`: allowed inside is not allowed outside. Where nobody can be asked, the question becomes a refusal.
 */
export function overrideHeuristic(call: JudgedCall): Heuristic | undefined {
  if (call.sandboxPermissions === 'use_default' || !isConfined(call)) return undefined
  const text =
    call.sandboxPermissions === 'require_escalated'
      ? 'the call asks to run outside of its sandbox'
      : 'the call asks for more permissions than commands have'
  return { decision: 'prompt', source: 'sandbox-permissions', text }
}

/** Whether there is a sandbox to leave, be it around files or around the network only. */
function isConfined({ permissions, hasManagedNetwork }: JudgedCall): boolean {
  return needsSandbox(permissions, hasManagedNetwork)
}
