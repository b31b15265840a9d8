import type { NetworkPermission, SandboxIntent } from '@waldo/protocol'
import type { FileRules } from './file-rules.ts'
import type { HostFacts } from './host-facts.ts'
import { contextOf } from './policy-context.ts'
import { RuleBinder } from './rule-binder.ts'

export { PROTECTED_NAMES } from './protected-names.ts'

/** A profile in terms of this machine. */
export interface Policy {
  /** Undefined: the files are not restricted by us. */
  readonly files: FileRules | undefined
  readonly network: NetworkPermission
  /** Entries that grant nothing, because there is nothing at their path. */
  readonly skipped: readonly string[]
}

export interface BindOptions {
  /** Stands in for a `cwd` that the profile does not have. */
  readonly cwd: string | undefined
}

/** Translates an intent into rules about paths of this machine. Throws a `PolicyError`; never returns less than asked. */
export function bindPolicy(intent: SandboxIntent, facts: HostFacts, { cwd }: BindOptions): Policy {
  const { permissions } = intent
  const context = contextOf(intent, cwd)
  if (permissions.type === 'disabled') return { files: undefined, network: 'enabled', skipped: [] }
  if (permissions.type === 'external') return { files: undefined, network: permissions.network, skipped: [] }
  if (permissions.file_system.type === 'unrestricted') {
    return { files: undefined, network: permissions.network, skipped: [] }
  }
  const { entries, glob_scan_max_depth } = permissions.file_system
  const binder = new RuleBinder(context, facts)
  for (const entry of entries) binder.add(entry)
  const files = binder.finish(glob_scan_max_depth)
  return { files: files.writesEverything ? undefined : files, network: permissions.network, skipped: binder.skipped }
}
