export {
  type ApprovalPolicy,
  type GranularPolicy,
  mayAskForSandbox,
  namedApprovalPolicy,
  policyName,
} from './approvals/approval-policy.ts'
export type {
  ApprovalRequest,
  ApprovalSubject,
  Approver,
  PatchedFile,
  SandboxOutlook,
} from './approvals/approver.ts'
export { callbackApprover } from './approvals/callback-approver.ts'
export { describeRequest } from './approvals/describe-request.ts'
export { QueueApprover } from './approvals/queue-approver.ts'
export { RequestSheet } from './approvals/request-sheet.ts'
export type { DecisionKind, DecisionSource, ReviewDecision } from './approvals/review-decision.ts'
export { type ScriptedAnswer, type ScriptedApprover, scriptedApprover } from './approvals/scripted-approver.ts'
export { shellQuote } from './approvals/shell-quote.ts'
export { visibleText } from './approvals/visible-text.ts'
export {
  type CallContext,
  Conversation,
  type ConversationOptions,
  type TurnOptions,
} from './conversation/conversation.ts'
export { DEFAULT_SETTINGS, type Settings } from './conversation/settings.ts'
export type { ToolAnswer } from './conversation/tool-call.ts'
export type { Turn, TurnEnd, TurnSession } from './conversation/turn.ts'
export type { EndState, ExecBegin, ExecEnd, ExecEvent, ExecEventType } from './events/exec-event.ts'
export {
  type ExecutionRequest,
  Executor,
  type ExecutorConfig,
  type ExecutorOptions,
} from './executor/executor.ts'
export type { Amendment, Requirement, Why } from './orchestrator/requirement.ts'
export { TurnAborted } from './orchestrator/turn-aborted.ts'
export type { ExecFailure, ExecOutput, ExecResult } from './output/exec-output.ts'
export { normalizeResult } from './output/normalize-result.ts'
export { shortened } from './output/shortened.ts'
export type { TruncationPolicy } from './output/truncation-policy.ts'
export { applyPatchText } from './patch/apply-patch-text.ts'
export { parsePatch } from './patch/parse-patch.ts'
export { PatchError } from './patch/patch-error.ts'
export { diffText } from './patch/summary.ts'
export { verifyPatch } from './patch/verify-patch.ts'
export type { AdditionalPermissions, RequestedPermissions } from './permissions/additional-permissions.ts'
export type { PermissionProfile } from './permissions/sandbox-requests.ts'
export { permissionsOf } from './permissions/sandbox-requests.ts'
export { amendmentText } from './policy/amendment.ts'
export type { AmendmentScope, CommandPolicy, CommandToJudge } from './policy/command-policy.ts'
export type { JudgedPart } from './policy/judgement/judged-part.ts'
export { type Explanation, RulePolicy, type RuleStore } from './policy/rule-policy.ts'
export type { CheckedFile, RuleFile, RuleLayer } from './policy/rules/load-rules.ts'
export { checkRules, loadRules } from './policy/rules/load-rules.ts'
export { shownRedirect } from './policy/rules/redirect-pattern.ts'
export type { Decision, Origin, PrefixRule } from './policy/rules/rule.ts'
export { shownOrigin } from './policy/rules/rule.ts'
export { RuleSet } from './policy/rules/rule-set.ts'
export { type RuleProblem, RulesError } from './policy/rules/rules-error.ts'
export { type Change, type SimulationEvent, simulate } from './policy/simulation/simulate.ts'
export { STARTER_LAYER } from './policy/starter-rules.ts'
export { ScriptParser } from './script/script-parser.ts'
export type { CommandLine, Segment } from './script/segment.ts'
export { shellWrapper } from './script/shell-wrapper.ts'
export { shownCommand } from './script/shown-command.ts'
export type { ToolDefinition } from './tools/tool-definition.ts'
export { offersRetryOfCommands } from './unified-exec/command-run.ts'
export { type Completion, completionMessage } from './unified-exec/completions.ts'
export type { Lifetime } from './unified-exec/session-facts.ts'
export type { IdSource } from './unified-exec/session-ids.ts'
