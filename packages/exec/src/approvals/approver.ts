import type { PathUri } from '@waldo/protocol'
import type { Amendment, Why } from '../orchestrator/requirement.ts'
import type { AdditionalPermissions } from '../permissions/additional-permissions.ts'
import type { DecisionKind, DecisionSource, ReviewDecision } from './review-decision.ts'

/** Where it would run if it were allowed. */
export type SandboxOutlook =
  /** Inside, as everything else. `thenOutside`: if that denies it something, again outside, without another question. */
  | { readonly kind: 'inside'; readonly thenOutside?: true }
  /** Inside, with more. */
  | { readonly kind: 'widened'; readonly permissions: AdditionalPermissions }
  /** Outside. */
  | { readonly kind: 'outside' }
  /** Everything is allowed but what must not be read: no approval can lift that. */
  | { readonly kind: 'outside-but-denials'; readonly denied: readonly string[] }

export interface PatchedFile {
  readonly kind: 'add' | 'update' | 'delete' | 'move'
  readonly path: PathUri
  readonly target?: PathUri
  /** Unified, with a line of context. */
  readonly diff: string
}

/** What somebody is asked to allow. */
export type ApprovalSubject =
  | {
      readonly kind: 'command'
      readonly argv: readonly string[]
      readonly cwd: PathUri
      readonly tty: boolean
      /** It goes on after the conversation. */
      readonly lifetime?: 'detached'
    }
  | { readonly kind: 'patch'; readonly cwd: PathUri; readonly files: readonly PatchedFile[] }
  | {
      readonly kind: 'network'
      readonly host: string
      readonly port: number
      readonly protocol: string
      /** Who wants to get there. */
      readonly command: readonly string[]
    }
  /** Asked for ahead, for later calls. */
  | { readonly kind: 'permissions'; readonly permissions: AdditionalPermissions; readonly cwd: PathUri }

/** A question. It says what will happen, where, why it is asked, and what would make it unnecessary. */
export interface ApprovalRequest {
  readonly id: string
  readonly callId: string
  readonly turnId: string
  readonly environmentId: string
  readonly askedAt: Date
  readonly subject: ApprovalSubject
  readonly sandbox: SandboxOutlook
  /** Why it is asked: about a second attempt, or what a rule says. */
  readonly reason?: string
  /** What the model says about it. They are its words, and it wants a yes. */
  readonly justification?: string
  readonly why: readonly Why[]
  /** It ran, and was denied something. */
  readonly isRetry: boolean
  /** The rule that would silence it. */
  readonly amendment?: Amendment
  /** What makes sense as an answer. Others are taken too. */
  readonly decisions: readonly DecisionKind[]
}

/** Somebody who decides: a person at a terminal, a callback, a queue, a program. */
export interface Approver {
  readonly source: DecisionSource
  /**
   * Undefined: it is for somebody else to decide. When `signal` aborts nobody waits for the answer any more. To throw
   * is to say no.
   */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ReviewDecision | undefined>
}
