/** When a person is asked. What nobody may be asked about is refused, never done unasked. */
export type ApprovalPolicy =
  /** Before everything that no rule allows. */
  | 'untrusted'
  /** Before what the model asks to run outside of its sandbox, and what a rule or its danger says. */
  | 'on-request'
  /** Nobody is there to be asked. */
  | 'never'
  | GranularPolicy

/** As `on-request`, for some kinds of questions only. */
export interface GranularPolicy {
  readonly granular: {
    /** Leaving the sandbox, or widening it. */
    readonly sandboxApproval: boolean
    /** What a rule of the exec policy says to ask about. */
    readonly rules: boolean
    /** The tool by which a model asks for permissions ahead. */
    readonly requestPermissions: boolean
  }
}

/** The name of it in messages: what a person has set, as they wrote it. */
export function policyName(policy: ApprovalPolicy): string {
  return typeof policy === 'string' ? policy : 'granular'
}

/** Whether somebody may be asked about leaving or widening the sandbox. */
export function mayAskForSandbox(policy: ApprovalPolicy): boolean {
  return typeof policy === 'string' ? policy !== 'never' : policy.granular.sandboxApproval
}

/** What a call is told that asks for it all the same. */
export function sandboxRefusal(policy: ApprovalPolicy): string {
  const name = policyName(policy)
  return `approval policy is ${name}; reject command — you cannot ask for escalated permissions if the approval policy is ${name}`
}

const NAMES = ['untrusted', 'on-request', 'never'] as const

/** By its name. `on-failure` is taken for `on-request`, which has taken its place; undefined for anything else. */
export function namedApprovalPolicy(name: string): ApprovalPolicy | undefined {
  return name === 'on-failure' ? 'on-request' : NAMES.find((known) => known === name)
}
