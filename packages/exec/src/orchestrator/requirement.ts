/** A rule that would make the question unnecessary from now on. */
export interface Amendment {
  /** Commands that begin with these words. */
  readonly prefix: readonly string[]
  /** They run outside of the sandbox then: it answers the question whether to leave it. */
  readonly sandbox?: 'bypass'
}

/** Why something was decided, for people: one line for each thing that had a say. */
export interface Why {
  /** `rule`, a heuristic such as `dangerous`, or the policy itself. */
  readonly source: 'rule' | 'dangerous' | 'approval-policy' | 'sandbox-permissions' | 'patch'
  readonly text: string
  /** Of the rule, if there is one: `/home/me/.config/waldo/rules/default.rules:3`. */
  readonly origin?: string
  /** What would have led to another decision. */
  readonly otherwise?: string
}

/** What has to happen before a tool call may do anything. */
export type Requirement =
  | {
      readonly kind: 'skip'
      /** A rule says so for every part of it. */
      readonly bypassSandbox: boolean
      /** For the question that comes if the sandbox denies it. */
      readonly amendment?: Amendment
      readonly why: readonly Why[]
    }
  | {
      readonly kind: 'ask'
      /** Said by a rule. What the model gives as its justification is another thing. */
      readonly reason?: string
      readonly amendment?: Amendment
      readonly why: readonly Why[]
    }
  | { readonly kind: 'forbidden'; readonly reason: string; readonly why: readonly Why[] }
