import { ExecError, type ReadyEnvironment } from '@waldo/environment'
import { type EnvironmentInfo, type PathUri, type Permissions, parent } from '@waldo/protocol'
import { type ApprovalPolicy, mayAskForSandbox } from '../approvals/approval-policy.ts'
import type { ApprovalSubject, PatchedFile } from '../approvals/approver.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolCall } from '../conversation/tool-call.ts'
import type { Requirement } from '../orchestrator/requirement.ts'
import type { Attempt, AttemptResult, CallIdentity, ToolRuntime } from '../orchestrator/tool-runtime.ts'
import { commitPatch } from '../patch/commit-patch.ts'
import { PatchError } from '../patch/patch-error.ts'
import type { Change, VerifiedPatch } from '../patch/verified-patch.ts'
import type { CallPermissions } from '../permissions/call-permissions.ts'
import { outsidePaths, type PatchSituation, patchRequirement } from './patch-requirement.ts'

/** What came of a patch: what was changed, or why nothing was. */
export type PatchOutcome =
  | { readonly success: true; readonly text: string }
  | { readonly success: false; readonly text: string }

export interface PatchContext {
  readonly call: ToolCall
  readonly selected: ReadyEnvironment
  /** What may be done there unasked. */
  readonly permissions: Permissions
  readonly info: EnvironmentInfo
  readonly services: Services
}

/** Applies a patch: what the orchestrator knows of one. */
export class PatchRun implements ToolRuntime<PatchOutcome> {
  readonly identity: CallIdentity
  readonly subject: ApprovalSubject
  readonly approvalKeys: readonly unknown[]
  readonly #verified: VerifiedPatch
  readonly #situation: PatchSituation
  readonly #selected: ReadyEnvironment
  readonly #services: Services

  constructor(verified: VerifiedPatch, { call, selected, permissions, info, services }: PatchContext) {
    const { callId, turn } = call
    const { environmentId, workspaceRoots, cwd } = selected
    this.identity = { tool: 'apply_patch', callId, turnId: turn.id, environmentId }
    this.subject = { kind: 'patch', cwd: verified.directory, files: verified.changes.map(patchedFile) }
    // Each file stands for itself: whoever may change two may change one of them. But not delete it.
    this.approvalKeys = verified.changes.map((change) => {
      const { path, kind } = change
      return { environmentId, path, kind, ...(change.kind === 'move' && { to: change.to }) }
    })
    this.#verified = verified
    this.#situation = {
      touched: verified.touched,
      permissions,
      place: { cwd, workspaceRoots, temporaryDirectories: info.temporaryDirectories },
      approvalPolicy: turn.settings.approvalPolicy,
    }
    this.#selected = selected
    this.#services = services
  }

  /** To write outside, once that is approved, it needs the directories there: nothing else of the profile changes. */
  get permissions(): CallPermissions {
    const outside = outsidePaths(this.#situation)
    if (outside.length === 0) return { requested: 'use_default', isPreApproved: true }
    const write = [...new Set(outside.map((path) => parent(path) ?? path))].sort()
    return {
      requested: 'with_additional_permissions',
      isPreApproved: false,
      additional: { network: false, read: [], write: write as PathUri[] },
    }
  }

  async requirement(): Promise<Requirement> {
    return patchRequirement(this.#situation)
  }

  /** A patch cannot ask for more by itself: so it is asked about under every policy that may ask. */
  offersRetry(policy: ApprovalPolicy): boolean {
    return mayAskForSandbox(policy)
  }

  async run({ sandbox, signal }: Attempt): Promise<AttemptResult<PatchOutcome>> {
    const { events, now } = this.#services
    const { callId, turnId, environmentId } = this.identity
    const start = now()
    events.emit({ type: 'patch_begin', callId, turnId, environmentId, files: this.#verified.touched })
    const end = ({ success, text }: PatchOutcome) =>
      events.emit({ type: 'patch_end', callId, turnId, success, text, durationMs: now() - start })
    try {
      const { files } = this.#selected.environment
      const { text, leftBehind } = await commitPatch(this.#verified, { files, sandbox, signal })
      for (const path of leftBehind) {
        events.emit({ type: 'warning', callId, turnId, text: `a temporary file could not be removed: ${path}` })
      }
      const outcome: PatchOutcome = { success: true, text }
      end(outcome)
      return { value: outcome }
    } catch (error) {
      const outcome: PatchOutcome = { success: false, text: (error as Error).message }
      end(outcome)
      if (!PatchError.is(error) && !ExecError.is(error)) throw error
      // Where nothing has changed, another attempt starts from the same place.
      const isDenied = sandbox !== undefined && !PatchError.is(error, 'PARTIAL') && wasDenied(error)
      const denial = { kind: 'file', access: 'write', rule: outcome.text, confidence: 'likely' } as const
      return { value: outcome, ...(isDenied && { denial: { denials: [denial] } }) }
    }
  }

  async discard(): Promise<void> {}
}

function wasDenied(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (ExecError.is(cause, 'FILE_DENIED')) return true
  return false
}

function patchedFile(change: Change): PatchedFile {
  const { kind, path, diff } = change
  return { kind, path, diff, ...(change.kind === 'move' && { target: change.to }) }
}
