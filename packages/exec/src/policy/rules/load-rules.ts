import { type Call, parseCalls } from '../language/parser.ts'
import { excerpt, Refusal } from '../language/refusal.ts'
import { SourceText } from '../language/source-text.ts'
import { hostExecutable } from './host-executable.ts'
import { networkRule } from './network-rule.ts'
import { type Example, prefixRule } from './prefix-rule.ts'
import type { Origin, PrefixRule, Rule } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import { type RuleProblem, RulesError } from './rules-error.ts'

export interface RuleFile {
  readonly path: string
  readonly text: string
}

/** Rules that belong together: of the system, of a user, of a project. */
export interface RuleLayer {
  readonly name: string
  readonly files: readonly RuleFile[]
  /** Whoever wrote it may forbid and have questions asked. Rules that allow something are mistakes there. */
  readonly restrictsOnly?: boolean
}

export const MAX_RULE_FILE_CHARACTERS = 1024 * 1024
/** Over all layers. Every command is held against those for its program. */
export const MAX_RULES = 10_000

/** Beyond this nobody reads on. */
const MAX_PROBLEMS = 1000

interface Examples {
  readonly file: RuleFile
  readonly source: SourceText
  readonly rule: PrefixRule
  readonly examples: readonly Example[]
}

/** What was read of a file, also if not all of it could be. */
export interface CheckedFile {
  readonly file: string
  readonly rules: number
  readonly examples: number
}

export interface CheckedRules {
  readonly files: readonly CheckedFile[]
  readonly problems: readonly RuleProblem[]
  /** Undefined if there is a problem: then none of them can be used. */
  readonly rules: RuleSet | undefined
}

/** All rules of all layers, or an error that tells everything that is wrong with any of them. */
export function loadRules(layers: readonly RuleLayer[]): RuleSet {
  const { rules, problems } = checkRules(layers)
  if (!rules) throw new RulesError(problems)
  return rules
}

/** The same for whoever wants to know what was read, too. */
export function checkRules(layers: readonly RuleLayer[]): CheckedRules {
  const rules: Rule[] = []
  const problems: RuleProblem[] = []
  const examples: Examples[] = []
  const files: CheckedFile[] = []
  for (const layer of layers) {
    for (const file of layer.files) {
      const [rulesBefore, examplesBefore] = [rules.length, examples.length]
      readFile(file, layer, { rules, problems, examples })
      files.push({
        file: file.path,
        rules: rules.length - rulesBefore,
        examples: examples.slice(examplesBefore).reduce((sum, each) => sum + each.examples.length, 0),
      })
    }
  }
  for (const problem of failedExamples(rules, examples)) {
    if (problems.length >= MAX_PROBLEMS) break
    problems.push(problem)
  }
  if (problems.length > 0) return { files, problems, rules: undefined }
  const restricting = layers.filter((layer) => layer.restrictsOnly).map((layer) => layer.name)
  return { files, problems, rules: new RuleSet(rules, new Set(restricting)) }
}

interface Found {
  readonly rules: Rule[]
  readonly problems: RuleProblem[]
  readonly examples: Examples[]
}

function readFile(file: RuleFile, layer: RuleLayer, { rules, problems, examples }: Found): void {
  const source = new SourceText(file.text)
  const refuse = ({ offset, message }: Refusal) =>
    problems.push({ file: file.path, ...source.position(offset), message })
  if (file.text.length > MAX_RULE_FILE_CHARACTERS) {
    refuse(new Refusal(0, `the file has more than ${MAX_RULE_FILE_CHARACTERS} characters`))
    return
  }
  const { calls, refusals } = parseCalls(file.text)
  refusals.forEach(refuse)
  for (const call of calls) {
    const origin = { layer: layer.name, file: file.path, line: source.lineOf(call.offset) }
    try {
      if (rules.length === MAX_RULES) throw new Refusal(call.offset, `more than ${MAX_RULES} rules`)
      const made = ruleOf(call, origin)
      refuseToAllow(layer, made.rule, call)
      rules.push(made.rule)
      if (made.rule.kind === 'prefix') examples.push({ file, source, rule: made.rule, examples: made.examples })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refuse(error)
      if (rules.length === MAX_RULES || problems.length >= MAX_PROBLEMS) return
    }
  }
}

function ruleOf(call: Call, origin: Origin): { rule: Rule; examples: readonly Example[] } {
  switch (call.name) {
    case 'prefix_rule':
      return prefixRule(call, origin)
    case 'host_executable':
      return { rule: hostExecutable(call, origin), examples: [] }
    case 'network_rule':
      return { rule: networkRule(call, origin), examples: [] }
    default: {
      const known = 'there are prefix_rule, host_executable and network_rule'
      throw new Refusal(call.offset, `\`${excerpt(call.name)}\` is not known: ${known}`)
    }
  }
}

function refuseToAllow({ name, restrictsOnly }: RuleLayer, rule: Rule, call: Call): void {
  if (!restrictsOnly || rule.kind === 'host-executable' || rule.decision !== 'allow') return
  throw new Refusal(call.offset, `the layer "${name}" can only restrict: it cannot contain allow rules`)
}

/** Each example against the rules of its own call, which must do as it says whatever the others do. */
function* failedExamples(rules: readonly Rule[], all: readonly Examples[]): Generator<RuleProblem> {
  const hosts = new Map<string, Rule[]>()
  for (const rule of rules) {
    if (rule.kind === 'host-executable') hosts.set(rule.name, [...(hosts.get(rule.name) ?? []), rule])
  }
  for (const { file, source, rule, examples } of all) {
    if (examples.length === 0) continue
    const set = new RuleSet([...rule.pattern[0]!.flatMap((program) => hosts.get(program) ?? []), rule])
    for (const { words, isMatch, offset } of examples) {
      if (set.match({ words, assignments: [], redirects: [] }).matches.length > 0 === isMatch) continue
      const example = `the example ${excerpt(JSON.stringify(words), 200)}`
      const message = isMatch ? `${example} is not matched by this rule` : `${example} must not be matched by this rule`
      yield { file: file.path, ...source.position(offset), message }
    }
  }
}
