import type { Segment } from '../../script/segment.ts'
import { CompiledRule, type NearMiss, type RuleMatch, unnamedPart } from './prefix-match.ts'
import type { HostExecutable, NetworkRule, PrefixRule, Rule } from './rule.ts'

export interface Matches {
  readonly matches: readonly RuleMatch[]
  readonly misses: readonly NearMiss[]
}

/**
 * All rules of all layers. It never changes: whoever judges a command goes on with the rules it began with.
 *
 * The order of rules and layers means nothing, and no rule weakens another that prompts or forbids. So these go by the
 * name of a program wherever it lies, while an allow rule is for the files that `host_executable` lists, if it lists any.
 */
export class RuleSet {
  readonly prefixRules: readonly PrefixRule[]
  readonly hostExecutables: readonly HostExecutable[]
  readonly networkRules: readonly NetworkRule[]
  /** Layers that may not allow anything. */
  readonly restrictingLayers: ReadonlySet<string>
  /** The words of the longest pattern that prompts or forbids. */
  readonly longestRestriction: number
  readonly #rules: readonly Rule[]
  readonly #byProgram = new Map<string, CompiledRule[]>()
  /** Programs that a rule prompts about or forbids. */
  readonly #restricted = new Set<string>()
  /** By name, then by layer: a file counts if every layer that speaks of the name lists it. */
  readonly #paths = new Map<string, Map<string, ReadonlySet<string>>>()

  constructor(rules: readonly Rule[], restrictingLayers: ReadonlySet<string> = new Set()) {
    this.#rules = rules
    this.restrictingLayers = restrictingLayers
    this.prefixRules = rules.filter((rule) => rule.kind === 'prefix')
    this.networkRules = rules.filter((rule) => rule.kind === 'network')
    this.longestRestriction = this.prefixRules.reduce(
      (longest, { decision, pattern }) => (decision === 'allow' ? longest : Math.max(longest, pattern.length)),
      0,
    )
    for (const rule of this.prefixRules) {
      const compiled = new CompiledRule(rule)
      for (const program of compiled.programs) {
        if (rule.decision !== 'allow') this.#restricted.add(program)
        const others = this.#byProgram.get(program)
        if (others) others.push(compiled)
        else this.#byProgram.set(program, [compiled])
      }
    }
    this.hostExecutables = rules.filter((rule) => rule.kind === 'host-executable')
    for (const { name, paths, origin } of this.hostExecutables) {
      const layers = this.#paths.get(name) ?? new Map<string, ReadonlySet<string>>()
      this.#paths.set(name, layers.set(origin.layer, new Set(paths)))
    }
  }

  with(rule: Rule): RuleSet {
    return new RuleSet([...this.#rules, rule], this.restrictingLayers)
  }

  /** As if this were the only rule for commands. */
  withOnly(rule: PrefixRule): RuleSet {
    return new RuleSet([...this.hostExecutables, rule], this.restrictingLayers)
  }

  /** Whether a rule that prompts or forbids speaks of the program. */
  restricts(program: string | undefined): boolean {
    if (program === undefined) return false
    return this.#restricted.has(program) || this.#restricted.has(program.slice(program.lastIndexOf('/') + 1))
  }

  /** All rules that hold for a command, and those that would if it had less about it. */
  match(segment: Segment): Matches {
    const { words } = segment
    const program = words[0]
    if (program === undefined) return { matches: [], misses: [] }
    const exact = this.#fitting(program, words)
    const name = program.slice(program.lastIndexOf('/') + 1)
    const byName = name === program ? [] : this.#fitting(name, words)
    const matches: RuleMatch[] = []
    const misses: NearMiss[] = []
    for (const compiled of exact) {
      const because = compiled.rule.decision === 'allow' ? unnamedPart(compiled.rule, segment) : undefined
      if (because === undefined) matches.push(matchOf(compiled, program, words))
      else misses.push({ rule: compiled.rule, because })
    }
    for (const compiled of byName) {
      const { rule } = compiled
      const isAllow = rule.decision === 'allow'
      if (isAllow && (exact.length > 0 || !program.startsWith('/'))) continue
      const listed = this.#isListed(name, program)
      const because = isAllow ? (listed === false ? notListed(name, program) : unnamedPart(rule, segment)) : undefined
      if (because !== undefined) misses.push({ rule, because })
      else {
        const match = matchOf(compiled, name, words)
        // A program that anybody may have put there is not run outside of the sandbox for its name alone.
        const bypassesSandbox = match.bypassesSandbox && listed === true
        matches.push({ ...match, bypassesSandbox, resolvedProgram: program })
      }
    }
    return { matches, misses }
  }

  #fitting(program: string, words: readonly string[]): CompiledRule[] {
    return (this.#byProgram.get(program) ?? []).filter((rule) => rule.fits(words))
  }

  /** Undefined if nobody speaks of the name, or only who cannot allow anything does. */
  #isListed(name: string, path: string): boolean | undefined {
    let listed: true | undefined
    for (const [layer, paths] of this.#paths.get(name) ?? []) {
      if (!paths.has(path)) return false
      if (!this.restrictingLayers.has(layer)) listed = true
    }
    return listed
  }
}

function matchOf(compiled: CompiledRule, program: string, words: readonly string[]): RuleMatch {
  const { rule } = compiled
  const bypassesSandbox = rule.decision === 'allow' && rule.sandbox === 'bypass'
  return { rule, matchedPrefix: compiled.prefixOf(program, words), bypassesSandbox }
}

function notListed(name: string, path: string): string {
  return `host_executable("${name}") does not list ${path}`
}
