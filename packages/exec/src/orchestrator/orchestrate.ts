import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { SandboxOutlook } from '../approvals/approver.ts'
import type { DecisionKind } from '../approvals/review-decision.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { CommandPolicy } from '../policy/command-policy.ts'
import type { Amendment, Requirement, Why } from './requirement.ts'
import { bypassChoice, confinedChoice, outlook, type SandboxChoice, type SandboxSituation } from './sandbox-choice.ts'
import type { AttemptResult, Denial, ToolRuntime } from './tool-runtime.ts'
import { TurnAborted } from './turn-aborted.ts'

export interface OrchestratorServices {
  readonly approvals: Approvals
  /** Where rules are saved that an answer asks for. */
  readonly policy: CommandPolicy
  readonly events: EventHub
  readonly now: () => number
}

export interface OrchestratedCall<T> {
  readonly runtime: ToolRuntime<T>
  readonly approvalPolicy: ApprovalPolicy
  readonly sandbox: SandboxSituation
  readonly signal: AbortSignal
}

/** Undefined if the denial stands as it is. */
export type Retry<T> = (denial: Denial, signal: AbortSignal) => Promise<Outcome<T> | undefined>

export type Outcome<T> =
  | {
      readonly kind: 'ran'
      readonly value: T
      readonly choice: SandboxChoice
      /** What the sandbox refused, if that is how it ended. */
      readonly denial?: Denial
      /** Somebody was asked about another attempt, and said no: what came of the first is all there is. */
      readonly retryRejected?: string
      /**
       * For a denial that shows only after the value was handed out, of a process that went on running. Absent if it was
       * the second attempt.
       */
      readonly retry?: Retry<T>
    }
  /** Somebody, or a rule, said no. The model is told, and goes on. */
  | { readonly kind: 'rejected'; readonly reason: string }

/**
 * What every tool call goes through: requirement → approval → sandbox → attempt → outcome → perhaps one retry. Throws
 * `TurnAborted` when somebody stops the turn, and what the runtime throws when there is nothing to judge.
 */
export async function orchestrate<T>(call: OrchestratedCall<T>, services: OrchestratorServices): Promise<Outcome<T>> {
  const { runtime, sandbox, signal } = call
  const requirement = await runtime.requirement()
  signal.throwIfAborted()
  if (requirement.kind === 'forbidden') {
    decided(call, services, { kind: 'denied', rejection: requirement.reason })
    return { kind: 'rejected', reason: requirement.reason }
  }

  const wantsOut = sandbox.call.requested === 'require_escalated'
  const bypasses = wantsOut || (requirement.kind === 'skip' && requirement.bypassSandbox)
  const choice = bypasses ? bypassChoice(sandbox) : confinedChoice(sandbox)
  const seen = outlookOf(call, choice)
  if (requirement.kind === 'ask') {
    const no = await ask(call, services, { requirement, choice, seen, reason: requirement.reason })
    if (no !== undefined) return { kind: 'rejected', reason: no }
  } else decided(call, services, { kind: 'approved' })

  const start = services.now()
  const isBypass = choice.intent.startsWith('bypass')
  const first = await runtime.run({ number: 1, sandbox: choice.request, isBypass, signal })
  const initialMs = () => services.now() - start
  const coversRetry = requirement.kind === 'ask' && seen.kind === 'inside' && seen.thenOutside === true
  const attempt = { first, choice, requirement, coversRetry, initialMs }
  const retry: Retry<T> = (denial, signal) => retryOutside({ ...call, signal }, services, { ...attempt, denial })
  const ran = { kind: 'ran' as const, value: first.value, choice }
  if (!first.denial) return { ...ran, retry }
  return (await retry(first.denial, signal)) ?? { ...ran, denial: first.denial }
}

interface FirstAttempt<T> {
  readonly first: AttemptResult<T>
  readonly denial: Denial
  readonly choice: SandboxChoice
  readonly requirement: Exclude<Requirement, { kind: 'forbidden' }>
  /** Somebody said yes to it, and was told that another attempt outside may follow. */
  readonly coversRetry: boolean
  readonly initialMs: () => number
}

/** Undefined if the denial stands as it is. */
async function retryOutside<T>(
  call: OrchestratedCall<T>,
  services: OrchestratorServices,
  { first, denial, choice, requirement, coversRetry, initialMs }: FirstAttempt<T>,
): Promise<Outcome<T> | undefined> {
  const { runtime, sandbox, signal } = call
  const tell = (outcome: 'denied' | 'escalated' | 'failed', escalatedMs?: number) => {
    const { tool, callId, turnId } = runtime.identity
    const took = escalatedMs === undefined ? {} : { escalatedMs }
    services.events.emit({ type: 'sandbox_outcome', tool, callId, turnId, outcome, initialMs: initialMs(), ...took })
  }
  const outside = bypassChoice(sandbox)
  const mayRetry =
    canRetry(call, choice) &&
    // Somebody decided about that host already. Outside, nobody would be asked.
    denial.network === undefined &&
    // Only what an executor says counts. What "might be" a denial is for people to read.
    denial.denials.some(({ confidence }) => confidence !== 'possible')
  if (!mayRetry) {
    tell('denied')
    return undefined
  }
  if (!coversRetry) {
    const reason = 'command failed; retry without sandbox?'
    const seen = outlook(outside, sandbox)
    const no = await ask(call, services, { requirement, choice: outside, seen, reason, isRetry: true })
    if (no !== undefined) {
      tell('denied')
      return { kind: 'ran', value: first.value, choice, denial, retryRejected: no }
    }
  }
  await runtime.discard(first.value)
  const start = services.now()
  const second = await runtime.run({ number: 2, sandbox: outside.request, isBypass: true, signal })
  tell(second.denial ? 'failed' : 'escalated', services.now() - start)
  return { kind: 'ran', value: second.value, choice: outside, ...(second.denial && { denial: second.denial }) }
}

/** Where something must not be read there is no outside, and the rest of the profile was what denied it. */
function canRetry<T>({ runtime, approvalPolicy, sandbox }: OrchestratedCall<T>, { intent }: SandboxChoice): boolean {
  return intent === 'confined' && runtime.offersRetry(approvalPolicy) && bypassChoice(sandbox).intent === 'bypass'
}

/** Under `untrusted` everything is asked about: there, and only if it is said, one answer is for both attempts. */
function outlookOf<T>(call: OrchestratedCall<T>, choice: SandboxChoice): SandboxOutlook {
  const seen = outlook(choice, call.sandbox)
  const isForBoth = seen.kind === 'inside' && call.approvalPolicy === 'untrusted' && canRetry(call, choice)
  return isForBoth ? { kind: 'inside', thenOutside: true } : seen
}

interface Question {
  readonly requirement: { readonly why: readonly Why[]; readonly amendment?: Amendment }
  readonly choice: SandboxChoice
  /** What whoever decides is told of it. */
  readonly seen: SandboxOutlook
  readonly reason: string | undefined
  readonly isRetry?: boolean
}

/** Undefined: go on. Otherwise why not, for the model. */
async function ask<T>(
  call: OrchestratedCall<T>,
  { approvals, policy, events }: OrchestratorServices,
  { requirement, choice, seen, reason, isRetry = false }: Question,
): Promise<string | undefined> {
  const { runtime, sandbox, signal } = call
  const { tool, callId, turnId, environmentId } = runtime.identity
  const { amendment, why } = requirement
  const { justification } = sandbox.call
  const decisions = offered(sandbox, amendment, isRetry)
  // An answer for the conversation is for the same thing with the same rights. A second question is about something
  // else than the first.
  const isKept = decisions.includes('approved_for_session')
  const rights = { intent: choice.intent, permissions: choice.request?.permissions ?? null, seen }
  const { decision } = await approvals.ask(
    {
      callId,
      turnId,
      environmentId,
      subject: runtime.subject,
      sandbox: seen,
      why,
      isRetry,
      decisions,
      ...(reason !== undefined && { reason }),
      ...(justification !== undefined && { justification }),
      ...(amendment && { amendment }),
    },
    { tool, keys: isKept ? runtime.approvalKeys.map((key) => ({ key, rights })) : [], signal },
  )
  switch (decision.kind) {
    case 'approved':
    case 'approved_for_session':
      return undefined
    case 'approved_execpolicy_amendment':
      try {
        await policy.amend(decision.amendment, decision.scope)
      } catch (error) {
        // Whoever said yes to all of them said yes to this one.
        events.emit({ type: 'warning', callId, turnId, text: `the rule was not saved: ${(error as Error).message}` })
      }
      return undefined
    case 'network_policy_amendment':
      return decision.action === 'allow' ? undefined : 'rejected by user'
    case 'denied':
      return decision.rejection ?? 'rejected by user'
    case 'timed_out':
      return 'nobody answered in time; you may ask once more, or go on without it'
    case 'abort':
      throw new TurnAborted()
  }
}

/** What makes sense as an answer: wider permissions and second attempts are asked for each time. */
function offered(
  { call }: SandboxSituation,
  amendment: Amendment | undefined,
  isRetry: boolean,
): readonly DecisionKind[] {
  const always: readonly DecisionKind[] = amendment ? ['approved_execpolicy_amendment'] : []
  const isOnce = isRetry || call.requested === 'with_additional_permissions'
  return ['approved', ...(isOnce ? [] : (['approved_for_session'] as const)), ...always, 'denied', 'abort']
}

function decided<T>(
  { runtime }: OrchestratedCall<T>,
  { events }: OrchestratorServices,
  decision: { kind: 'approved' } | { kind: 'denied'; rejection: string },
): void {
  const { tool, callId, turnId } = runtime.identity
  events.emit({ type: 'approval_decided', tool, callId, turnId, decision, source: 'config' })
}
