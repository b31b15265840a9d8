import { fromPosixPath, type PathUri } from '@waldo/protocol'
import { RulePolicy } from '../policy/rule-policy.ts'
import { loadRules } from '../policy/rules/load-rules.ts'
import { STARTER_LAYER } from '../policy/starter-rules.ts'
import { ScriptParser } from '../script/script-parser.ts'
import { grammarFiles } from './bash-grammar.ts'
import { readRuleLayers } from './read-rules.ts'
import { RuleFiles } from './rule-files.ts'
import { type RulePlaces, rulePaths } from './rule-places.ts'

export interface OpenedPolicy {
  readonly policy: RulePolicy
  readonly scripts: ScriptParser
  /** Where the rules are: whoever can write there decides what runs next. */
  readonly keptPaths: readonly PathUri[]
}

export interface PolicyOptions extends Partial<RulePlaces> {
  /** Whether the rules that are shipped count, too: commands that only read, inside the sandbox. */
  readonly starter?: boolean | undefined
}

/**
 * The rules of this machine, of its user and of a project, as a conversation needs them. Throws `RulesError` if any of
 * them is wrong. A project that is not trusted is left out by not naming its `workspace`.
 */
export async function openPolicy({
  env = process.env,
  starter = false,
  ...places
}: PolicyOptions = {}): Promise<OpenedPolicy> {
  const layers = await readRuleLayers({ env, ...places })
  const scripts = new ScriptParser(grammarFiles)
  const policy = new RulePolicy({
    rules: loadRules(starter ? [STARTER_LAYER, ...layers] : layers),
    scripts,
    store: new RuleFiles({ env, ...places }),
  })
  const keptPaths = rulePaths({ env, ...places }).map((path) => fromPosixPath(path))
  return { policy, scripts, keptPaths }
}
