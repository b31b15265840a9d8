/**
 * Something that the sandbox did not let a command do.
 *
 * `certain`: somebody of ours refused it. `likely`: the command says so, and the policy agrees. `possible`: the command
 * says so, but not of what.
 */
export type Denial = {
  /** What of the profile decided, as whoever made it would recognise it. */
  readonly rule: string
  readonly confidence: 'certain' | 'likely' | 'possible'
} & (
  | { readonly kind: 'file'; readonly path?: string; readonly access: 'read' | 'write' }
  | { readonly kind: 'network'; readonly host?: string; readonly port?: number }
  | { readonly kind: 'syscall' }
)

export interface DenialReport {
  readonly sandboxDenied: boolean
  readonly denials: readonly Denial[]
}
