/** What a call wants of its sandbox. */
export type SandboxPermissions =
  | 'use_default'
  /** To run without one. */
  | 'require_escalated'
  /** To be allowed more, inside. */
  | 'with_additional_permissions'
