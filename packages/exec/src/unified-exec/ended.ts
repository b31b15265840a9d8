import type { ExitVerdict } from '@waldo/environment'
import type { EndState } from '../events/exec-event.ts'
import type { Denial } from '../orchestrator/tool-runtime.ts'
import { connectionLost, denialNotes, endedByHarness, endedBySignal } from '../output/response-notes.ts'

/** How a process came to its end, as far as anybody knows. */
export interface Ended {
  readonly state: EndState
  /** Null if nobody knows. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly verdict: ExitVerdict
  /** Why somebody of us ended it, if it did not end by itself. */
  readonly endedBy?: string
  /** How the connection was lost. */
  readonly error?: Error
}

/** What its sandbox refused, if the executor says that it failed because of that. */
export function denialOf({ verdict }: Ended, network: string | undefined): Denial | undefined {
  if (network !== undefined) return { denials: verdict.sandboxDenials ?? [], network }
  if (!verdict.sandboxDenied) return undefined
  // An executor that says no more than that has seen it all the same.
  const unnamed = [{ kind: 'file', rule: 'the executor does not say', confidence: 'likely' }] as const
  return { denials: verdict.sandboxDenials ?? unnamed }
}

/** For the model, where an exit code does not tell the story. */
export function endedNotes(ended: Ended, denial: Denial | undefined): string[] {
  const { state, signal, verdict, endedBy, error } = ended
  return [
    ...(state === 'killed' ? [endedByHarness(endedBy ?? 'it was told to')] : []),
    ...(state === 'lost' ? [connectionLost(error?.message ?? 'it ended without a word')] : []),
    ...(state === 'exited' && signal !== null ? [endedBySignal(signal)] : []),
    ...(verdict.limitHit ? [`Limit reached: ${verdict.limitHit.kind} (${verdict.limitHit.detail})`] : []),
    ...(verdict.sandboxFailed ? ['Sandbox: it could not be set up, and the command did not run'] : []),
    ...(denial?.network === undefined ? [] : [`Network: ${denial.network}`]),
    ...(denial ? denialNotes(denial.denials) : []),
  ]
}
