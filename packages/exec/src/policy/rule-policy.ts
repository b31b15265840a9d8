import type { Amendment, Requirement, Why } from '../orchestrator/requirement.ts'
import type { Danger } from '../script/dangerous.ts'
import type { ScriptParser } from '../script/script-parser.ts'
import type { CommandLine } from '../script/segment.ts'
import { AmendmentError, amendmentText } from './amendment.ts'
import type { AmendmentScope, CommandPolicy, CommandToJudge } from './command-policy.ts'
import { heuristic, type JudgedCall } from './judgement/heuristic.ts'
import { type JudgedPart, judgePart } from './judgement/judged-part.ts'
import { bare, partsOf } from './judgement/parts.ts'
import { proposedAmendment } from './judgement/proposal.ts'
import { requirementOf } from './judgement/requirement-of.ts'
import { unaskable } from './judgement/unaskable.ts'
import { whyOf } from './judgement/why.ts'
import { type NetworkLists, networkLists } from './network-lists.ts'
import { loadRules, MAX_RULES } from './rules/load-rules.ts'
import { type Decision, type Rule, shownOrigin, strictest, type WrittenProtocol } from './rules/rule.ts'
import type { RuleSet } from './rules/rule-set.ts'
import { RulesError } from './rules/rules-error.ts'

/** Where rules are saved. */
export interface RuleStore {
  /** Resolves when the line is on disk; a line that is there already is not added again. */
  append(scope: AmendmentScope, line: string): Promise<void>
}

export interface RulePolicyOptions {
  readonly rules: RuleSet
  readonly scripts: Pick<ScriptParser, 'commandLine'>
  readonly store: RuleStore
}

/** A decision with everything that led to it. */
export interface Explanation {
  readonly decision: Decision
  readonly line: CommandLine
  /** What was judged, in the order of the command line; then what was seen within it. */
  readonly segments: readonly JudgedPart[]
  readonly requirement: Requirement
  readonly why: readonly Why[]
}

const UNSEEN: Danger = {
  kind: 'unseen',
  text: 'it has more in it than can be held against the rules that prompt or forbid',
}

/** Judges commands by rules, and by what holds where there are none. */
export class RulePolicy implements CommandPolicy {
  readonly #options: RulePolicyOptions
  #rules: RuleSet
  #lastSave: Promise<void> = Promise.resolve()

  constructor(options: RulePolicyOptions) {
    this.#options = options
    this.#rules = options.rules
  }

  /** Those that hold now, each with where it is written. */
  get rules(): RuleSet {
    return this.#rules
  }

  async judge(command: CommandToJudge): Promise<Requirement> {
    return (await this.explain(command)).requirement
  }

  /** Rejects if the command cannot be taken apart at all: then nobody knows what it does, and it must not run. */
  async explain(command: CommandToJudge): Promise<Explanation> {
    // A rule that is saved meanwhile is for the next one.
    const rules = this.#rules
    const { argv, approvalPolicy } = command
    const line = await this.#options.scripts.commandLine(argv)
    const judged = { call: command, line }
    const { parts: found, isUnseen } = partsOf(command, line, rules)
    const parts = found.map((part) => judgePart(part, rules, judged))
    if (isUnseen) parts.push(unseen(argv, command))
    const refusal = unaskable(command)
    if (refusal) return { decision: 'forbidden', line, segments: parts, requirement: refusal, why: refusal.why }
    const decision = strictest(parts.flatMap((part) => part.decision ?? []))
    const suggested = command.prefixRule
    const amendment =
      decision === 'forbidden' ? undefined : proposedAmendment({ parts, rules, judged, decision, suggested })
    const why = whyOf(parts, decision)
    const requirement = requirementOf({ argv, approvalPolicy, parts, decision, amendment, why })
    return { decision, line, segments: parts, requirement, why: requirement.why }
  }

  async amend(amendment: Amendment, scope: AmendmentScope): Promise<void> {
    await this.#save(amendmentText(amendment), scope)
  }

  /** Saves what holds for a host from now on. What another rule is stricter about cannot be allowed. */
  async amendNetwork(
    host: string,
    protocol: WrittenProtocol,
    decision: 'allow' | 'deny',
    scope: AmendmentScope,
  ): Promise<void> {
    const fields = { host, protocol, decision }
    const text = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    await this.#save(`network_rule(${text.join(', ')})`, scope)
  }

  networkRules(): NetworkLists {
    return networkLists(this.#rules.networkRules)
  }

  /** One after the other: each is held against what was saved before it. */
  #save(line: string, scope: AmendmentScope): Promise<void> {
    const save = this.#lastSave.then(() => this.#saveNow(line, scope))
    // Whoever wanted it saved is told; the next one is not concerned.
    this.#lastSave = save.catch(() => {})
    return save
  }

  async #saveNow(line: string, scope: AmendmentScope): Promise<void> {
    const rule = savedRule(line, scope)
    const problem = this.#problemWith(rule, scope)
    if (problem !== undefined) throw new AmendmentError(`the rule is not saved: ${problem}`)
    if (this.#rules.has(rule)) return
    // With one more, none of them could be read again.
    if (this.#rules.size >= MAX_RULES) {
      throw new AmendmentError(
        `the rule is not saved: there are ${MAX_RULES} rules, and no more can be used; delete some first`,
      )
    }
    await this.#options.store.append(scope, line)
    this.#rules = this.#rules.with(rule)
  }

  /** What makes that it would not hold. */
  #problemWith(rule: Rule, scope: AmendmentScope): string | undefined {
    if (rule.kind === 'host-executable' || rule.decision !== 'allow') return undefined
    if (this.#rules.restrictingLayers.has(scope)) return `the ${scope} layer can only restrict`
    if (rule.kind !== 'network') return undefined
    const stricter = this.#rules.networkRules.find((each) => each.host === rule.host && each.decision !== 'allow')
    if (!stricter) return undefined
    return `${shownOrigin(stricter.origin)} says "${stricter.decision}" for ${rule.host}; change it there`
  }
}

/** Read as it will be read from the file, so that nothing is saved that could not be. */
function savedRule(line: string, scope: AmendmentScope): Rule {
  const path = `default.rules (${scope}, saved since)`
  const rules = readLine(line, { scope, path })
  const rule = rules.prefixRules[0] ?? rules.networkRules[0]
  if (!rule) throw new AmendmentError('the rule is not saved: it is empty')
  return { ...rule, origin: { layer: scope, file: path } }
}

function readLine(text: string, { scope, path }: { scope: AmendmentScope; path: string }): RuleSet {
  try {
    return loadRules([{ name: scope, files: [{ path, text }] }])
  } catch (error) {
    if (!(error instanceof RulesError)) throw error
    const why = error.problems.map(({ message }) => message).join('; ')
    throw new AmendmentError(`the rule is not saved: ${why}`, { cause: error })
  }
}

function unseen(argv: readonly string[], call: JudgedCall): JudgedPart {
  const part = { role: 'within' as const, segment: bare(argv), matches: [], misses: [] }
  const found = heuristic(call, UNSEEN)
  return { ...part, heuristic: found, decision: found.decision, bypassesSandbox: false }
}
