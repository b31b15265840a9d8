import { canonicalJson } from '../../approvals/canonical-json.ts'
import type { Segment } from '../../script/segment.ts'
import {
  CompiledRule,
  type Kept,
  keptByRedirect,
  MAX_OPTION_WORDS,
  type NearMiss,
  type RuleMatch,
  unnamedPart,
} from './prefix-match.ts'
import type { HostExecutable, NetworkRule, PrefixRule, Rule } from './rule.ts'

/** Where programs are found by their names: to write such a path says no more than the name does. */
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set([
  '/bin',
  '/usr/bin',
  '/usr/local/bin',
  '/sbin',
  '/usr/sbin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
])

const UNLISTED: Kept = {
  because: 'nobody says that this file is the program that is meant',
  otherwise: 'with host_executable for this path it would run outside of the sandbox',
}

export interface Matches {
  readonly matches: readonly RuleMatch[]
  readonly misses: readonly NearMiss[]
}

/**
 * All rules of all layers. It never changes: whoever judges a command goes on with the rules it began with.
 *
 * The order of rules and layers means nothing, and no rule weakens another that prompts or forbids. So these go by the
 * name of a program wherever it lies, while an allow rule is for the files that `host_executable` lists, or for those of
 * the system if it lists none.
 */
export class RuleSet {
  readonly prefixRules: readonly PrefixRule[]
  readonly hostExecutables: readonly HostExecutable[]
  readonly networkRules: readonly NetworkRule[]
  /** Layers that may not allow anything. */
  readonly restrictingLayers: ReadonlySet<string>
  /** The words of a command that a rule that prompts or forbids may look at. */
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
      (longest, { decision, pattern }) =>
        decision === 'allow' ? longest : Math.max(longest, pattern.length + MAX_OPTION_WORDS),
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

  get size(): number {
    return this.#rules.length
  }

  /** Whether its layer has one that says the same, wherever in it. */
  has(rule: Rule): boolean {
    const wanted = contentOf(rule)
    return this.#rules.some((each) => each.origin.layer === rule.origin.layer && contentOf(each) === wanted)
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
      if (because === undefined) matches.push(matchOf(compiled, program, segment, true))
      else misses.push({ rule: compiled.rule, because })
    }
    for (const compiled of byName) {
      const { rule } = compiled
      const isAllow = rule.decision === 'allow'
      if (isAllow && (exact.length > 0 || !program.startsWith('/'))) continue
      const listed = this.#isListed(name, program)
      const because = isAllow ? (misplaced(name, program, listed) ?? unnamedPart(rule, segment)) : undefined
      if (because !== undefined) misses.push({ rule, because })
      else matches.push({ ...matchOf(compiled, name, segment, listed), resolvedProgram: program })
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

/** What it says, but for where. */
function contentOf({ origin: _, ...content }: Rule): string {
  return canonicalJson(content)
}

/** `listed`: whether the program that is meant by its name is known to be the right one. */
function matchOf(compiled: CompiledRule, program: string, segment: Segment, listed: boolean | undefined): RuleMatch {
  const { rule } = compiled
  const match = { rule, matchedPrefix: compiled.prefixOf(program, segment.words), bypassesSandbox: false }
  if (rule.decision !== 'allow' || rule.sandbox !== 'bypass') return match
  const kept = listed ? keptByRedirect(segment) : UNLISTED
  return kept ? { ...match, kept } : { ...match, bypassesSandbox: true }
}

/** Why a file is not what an allow rule means by the name. Anybody may have put one there, but where the system's are. */
function misplaced(name: string, path: string, listed: boolean | undefined): string | undefined {
  if (listed === false) return `host_executable("${name}") does not list ${path}`
  if (listed || SYSTEM_DIRECTORIES.has(path.slice(0, path.lastIndexOf('/')))) return undefined
  return `${path} is in no directory of the system, and no host_executable("${name}") lists it`
}
