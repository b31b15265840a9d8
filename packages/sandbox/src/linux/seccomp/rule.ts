import type { SyscallName } from './syscalls.ts'

/** The same on both architectures. */
export const EPERM = 1
/** What a kernel without the call says. Programs that know an older way to do it then take that. */
export const ENOSYS = 38

/** Calls that fail with `errno`: always, or unless all tests of `onlyIf` hold. What no rule names is permitted. */
export interface Rule {
  readonly calls: readonly SyscallName[]
  readonly errno: number
  readonly onlyIf?: readonly ArgumentTest[]
}

/**
 * What must be true of the argument number `argument`.
 *
 * All but `null` look at its low 32 bits only: those arguments are `int` to the kernel, which ignores the other half
 * of the register, so that a filter that looked at it could be deceived.
 */
export type ArgumentTest =
  | { readonly argument: number; readonly is: 'oneOf'; readonly values: readonly number[]; readonly mask?: number }
  | { readonly argument: number; readonly is: 'noneOf'; readonly values: readonly number[]; readonly mask?: number }
  | { readonly argument: number; readonly is: 'withoutBits'; readonly bits: number }
  | { readonly argument: number; readonly is: 'null' }
