export { grammarFiles } from './bash-grammar.ts'
export { type OpenedPolicy, openPolicy } from './open-policy.ts'
export { RuleFiles, type RulePlaces, readRuleLayers } from './rule-files.ts'
export { TerminalApprover, type TerminalStreams } from './terminal-approver.ts'
