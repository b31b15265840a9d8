export { bindPolicy, type Policy, PROTECTED_NAMES } from './policy/bind-policy.ts'
export { type Decision, type FileRule, FileRules } from './policy/file-rules.ts'
export type { HostFacts, ResolvedPath } from './policy/host-facts.ts'
export { PolicyError } from './policy/policy-error.ts'
