/** The same number on all architectures. */
const SYS_LANDLOCK_CREATE_RULESET = 444
const CREATE_RULESET_VERSION = 1

/** Which version of Landlock the kernel has; 0 if none, or if it is switched off. */
export function landlockVersion(): number {
  const { dlopen } = require('bun:ffi') as typeof import('bun:ffi')
  const library = dlopen('libc.so.6', { syscall: { args: ['i64', 'ptr', 'u64', 'u32'], returns: 'i64' } } as const)
  const version = Number(library.symbols.syscall(SYS_LANDLOCK_CREATE_RULESET, null, 0, CREATE_RULESET_VERSION))
  return version > 0 ? version : 0
}
