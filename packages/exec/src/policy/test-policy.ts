import { fromPosixPath, type Permissions } from '@waldo/protocol'
import { grammarFiles } from '../node/bash-grammar.ts'
import { ScriptParser } from '../script/script-parser.ts'
import type { CommandToJudge } from './command-policy.ts'
import { RulePolicy, type RuleStore } from './rule-policy.ts'
import { loadRules, type RuleLayer } from './rules/load-rules.ts'

/** For tests: everything is as it is when it runs, but for where rules are saved. */
const scripts = new ScriptParser(grammarFiles)

export const RESTRICTED: Permissions = {
  type: 'managed',
  file_system: { type: 'restricted', entries: [] },
  network: 'restricted',
}
export const UNRESTRICTED: Permissions = {
  type: 'managed',
  file_system: { type: 'unrestricted' },
  network: 'enabled',
}

export class MemoryStore implements RuleStore {
  readonly lines: string[] = []

  async append(scope: string, line: string): Promise<void> {
    this.lines.push(`${scope}: ${line}`)
  }
}

/** One layer `user` with one file `user.rules`, or the layers that are given. */
export function policyOf(rules: string | readonly RuleLayer[], store: RuleStore = new MemoryStore()): RulePolicy {
  const layers = typeof rules === 'string' ? [layer('user', rules)] : rules
  return new RulePolicy({ rules: loadRules(layers), scripts, store })
}

export function layer(name: string, text: string, options: { restrictsOnly?: boolean } = {}): RuleLayer {
  return { name, files: [{ path: `${name}.rules`, text }], ...options }
}

/** A script, as `exec_command` runs it, or an argv. */
export function call(command: string | readonly string[], rest: Partial<CommandToJudge> = {}): CommandToJudge {
  return {
    argv: typeof command === 'string' ? ['/bin/bash', '-lc', command] : command,
    environmentId: 'here',
    cwd: fromPosixPath('/work'),
    approvalPolicy: 'on-request',
    permissions: RESTRICTED,
    hasManagedNetwork: false,
    sandboxPermissions: 'use_default',
    ...rest,
  }
}
