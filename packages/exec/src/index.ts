export type { ApprovalPolicy, GranularPolicy } from './approvals/approval-policy.ts'
export { Approvals } from './approvals/approvals.ts'
export type {
  ApprovalRequest,
  ApprovalSubject,
  Approver,
  PatchedFile,
  SandboxOutlook,
} from './approvals/approver.ts'
export { callbackApprover } from './approvals/callback-approver.ts'
export { describeRequest } from './approvals/describe-request.ts'
export { Pauses } from './approvals/pauses.ts'
export { QueueApprover } from './approvals/queue-approver.ts'
export type { DecisionKind, DecisionSource, ReviewDecision } from './approvals/review-decision.ts'
export { decisionLabel } from './approvals/review-decision.ts'
export { type ScriptedAnswer, type ScriptedApprover, scriptedApprover } from './approvals/scripted-approver.ts'
export {
  type CallContext,
  Conversation,
  type ConversationOptions,
  type TurnOptions,
} from './conversation/conversation.ts'
export { DEFAULT_SETTINGS, type Settings } from './conversation/settings.ts'
export type { ToolAnswer } from './conversation/tool-call.ts'
export type { Survivor, Turn, TurnEnd } from './conversation/turn.ts'
export { EventHub } from './events/event-hub.ts'
export type { EndState, ExecBegin, ExecEnd, ExecEvent, ExecEventType } from './events/exec-event.ts'
export {
  type ExecutionRequest,
  Executor,
  type ExecutorConfig,
  type ExecutorServices,
} from './executor/executor.ts'
export type { Amendment, Requirement, Why } from './orchestrator/requirement.ts'
export { TurnAborted } from './orchestrator/turn-aborted.ts'
export type { ExecFailure, ExecOutput, ExecResult } from './output/exec-output.ts'
export { HeadTailBuffer } from './output/head-tail-buffer.ts'
export { normalizeResult } from './output/normalize-result.ts'
export type { TruncationPolicy } from './output/truncation-policy.ts'
export { applyPatchText } from './patch/apply-patch-text.ts'
export { PatchError } from './patch/patch-error.ts'
export type { AdditionalPermissions, RequestedPermissions } from './permissions/additional-permissions.ts'
export type { PermissionProfile } from './permissions/sandbox-requests.ts'
export type { AmendmentScope, CommandPolicy, CommandToJudge } from './policy/command-policy.ts'
export { type Explanation, RulePolicy, type RuleStore } from './policy/rule-policy.ts'
export { loadRules } from './policy/rules/load-rules.ts'
export { RuleSet } from './policy/rules/rule-set.ts'
export { STARTER_RULES } from './policy/starter-rules.ts'
export { dangerousReason } from './script/dangerous.ts'
export { ScriptParser } from './script/script-parser.ts'
export type { CommandLine, Segment } from './script/segment.ts'
export type { ToolDefinition } from './tools/tool-definition.ts'
export { type Completion, completionMessage } from './unified-exec/completions.ts'
export type { Lifetime } from './unified-exec/exec-session.ts'
export type { IdSource } from './unified-exec/session-ids.ts'
