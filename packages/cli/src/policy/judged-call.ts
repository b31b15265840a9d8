import {
  type ApprovalPolicy,
  type CommandToJudge,
  DEFAULT_SETTINGS,
  loadRules,
  namedApprovalPolicy,
  type PermissionProfile,
  permissionsOf,
  type RuleLayer,
  RulePolicy,
  ScriptParser,
} from '@waldo/exec'
import { grammarFiles } from '@waldo/exec/node'
import { fromPosixPath } from '@waldo/protocol'
import type { Flags } from '../flags.ts'
import { UsageError } from '../usage-error.ts'
import { projectDirectory, type RuleFlags } from './rule-source.ts'

/** What holds for a call, beside the rules. */
export const CALL_FLAGS = { approval: 'text', sandbox: 'text' } as const

/** What a script is run with. */
export const SHELL = '/bin/bash'

type CallSettings = Omit<CommandToJudge, 'argv' | 'sandboxPermissions' | 'prefixRule' | 'shell'> & {
  readonly shell: string
}

export function callSettings(flags: Flags<typeof CALL_FLAGS> & RuleFlags, help: string): CallSettings {
  return {
    environmentId: 'local',
    cwd: fromPosixPath(projectDirectory(flags)),
    approvalPolicy: approvalPolicy(flags.approval, help),
    permissions: permissionsOf(permissionProfile(flags.sandbox, help)),
    hasManagedNetwork: false,
    shell: SHELL,
  }
}

function approvalPolicy(given: string | undefined, help: string): ApprovalPolicy {
  if (given === undefined) return DEFAULT_SETTINGS.approvalPolicy
  const named = namedApprovalPolicy(given)
  if (named) return named
  const [, list] = /^granular:(sandbox|rules|sandbox,rules|rules,sandbox)$/.exec(given) ?? []
  if (list === undefined) {
    const known = 'untrusted, on-request, never, granular:sandbox, granular:rules or granular:sandbox,rules'
    throw new UsageError(`--approval ${given}: expected ${known}`, help)
  }
  const may = list.split(',')
  const granular = {
    sandboxApproval: may.includes('sandbox'),
    rules: may.includes('rules'),
    requestPermissions: false,
  }
  return { granular }
}

function permissionProfile(given: string | undefined, help: string): PermissionProfile {
  if (given === undefined) return DEFAULT_SETTINGS.permissions
  if (given === 'read-only' || given === 'workspace' || given === 'full-access') return given
  throw new UsageError(`--sandbox ${given}: expected read-only, workspace or full-access`, help)
}

/** Throws `RulesError` if the rules cannot be used. Rules are only asked here, never saved. */
export function policyOf(layers: readonly RuleLayer[]): RulePolicy {
  return new RulePolicy({
    rules: loadRules(layers),
    scripts: new ScriptParser(grammarFiles),
    store: { append: () => Promise.reject(new Error('rules are not saved by a command that only asks')) },
  })
}
