import { type Decoded, object, oneOf, optional, plainObject, type Schema } from './decode.ts'

/** The part of a sandbox intent that decides whether there is anything to enforce. */
const sandboxIntent = object({
  permissions: object({
    type: oneOf('managed', 'disabled', 'external'),
    file_system: optional(plainObject),
  }),
  windowsSandboxLevel: oneOf('disabled', 'restricted-token', 'elevated', 'mxc'),
})
export type SandboxIntent = Decoded<typeof sandboxIntent>

/** Absent, or `null`: no sandbox is asked for. */
export const optionalSandbox: Schema<SandboxIntent | undefined> = optional(sandboxIntent)
