import type { PathUri, SandboxDenial } from '@waldo/protocol'
import type { ApprovalRequest } from '../approvals/approver.ts'
import type { DecisionSource, ReviewDecision } from '../approvals/review-decision.ts'

interface OfCall {
  /** Of a process: the call that started it, whoever looks at it later. */
  readonly callId: string
  readonly turnId: string
}

export interface ExecBegin extends OfCall {
  readonly type: 'exec_begin'
  readonly sessionId: number
  readonly environmentId: string
  readonly argv: readonly string[]
  /** What the model wrote. */
  readonly command: string
  readonly cwd: PathUri
  readonly tty: boolean
  /** Whether the executor was asked to confine it. */
  readonly sandboxed: boolean
  readonly attempt: 1 | 2
}

/** How a process ended, as far as anybody knows. */
export type EndState =
  | 'exited'
  /** By the harness: a kill, too many processes, the end of a turn, a denied request. */
  | 'killed'
  /** The connection to it was, for good. */
  | 'lost'

export interface ExecEnd extends OfCall {
  readonly type: 'exec_end'
  readonly sessionId: number
  readonly state: EndState
  /** −1 if nobody knows. */
  readonly exitCode: number
  readonly signal: string | null
  /** Who ended it and why, if it did not end by itself. */
  readonly endedBy?: string
  /** Everything it said, but for the middle of what is too much. */
  readonly output: string
  readonly omittedBytes: number
  readonly durationMs: number
  readonly denials: readonly SandboxDenial[]
}

/** What a tool call went through, for a user interface, an audit log or telemetry. One end for each begin, but for what
 * is detached and goes on after the conversation. */
export type ExecEvent =
  | ExecBegin
  | (OfCall & { readonly type: 'exec_output'; readonly sessionId: number; readonly data: Uint8Array })
  /** Somebody wrote to a process, or looked at it (`stdin` is empty then). */
  | (OfCall & { readonly type: 'terminal_interaction'; readonly sessionId: number; readonly stdin: string })
  | ExecEnd
  | (OfCall & { readonly type: 'patch_begin'; readonly environmentId: string; readonly files: readonly PathUri[] })
  | (OfCall & {
      readonly type: 'patch_end'
      readonly success: boolean
      readonly text: string
      readonly durationMs: number
    })
  | (OfCall & { readonly type: 'approval_asked'; readonly tool: string; readonly request: ApprovalRequest })
  /** `requestId` is absent if nobody had to be asked. */
  | (OfCall & {
      readonly type: 'approval_decided'
      readonly tool: string
      readonly requestId?: string
      readonly decision: ReviewDecision
      readonly source: DecisionSource
    })
  /** Anything but a plain success in the first attempt. */
  | (OfCall & {
      readonly type: 'sandbox_outcome'
      readonly tool: string
      readonly outcome: 'denied' | 'escalated' | 'failed'
      readonly initialMs: number
      readonly escalatedMs?: number
    })
  | (OfCall & {
      readonly type: 'network_decided'
      readonly environmentId: string
      readonly host: string
      readonly port: number
      readonly protocol: string
      readonly allowed: boolean
      readonly reason: string
    })
  /** `error`, if it is a mistake of ours. */
  | (OfCall & { readonly type: 'warning'; readonly text: string; readonly error?: unknown })

export type ExecEventType = ExecEvent['type']
