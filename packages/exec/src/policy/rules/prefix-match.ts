import type { Segment } from '../../script/segment.ts'
import { permitsVariable } from './env-pattern.ts'
import { isHarmlessRedirect, permitsRedirect, shownRedirect } from './redirect-pattern.ts'
import type { PrefixRule } from './rule.ts'

/** A rule that holds for a command. */
export interface RuleMatch {
  readonly rule: PrefixRule
  /** The words of the pattern, as it has them. */
  readonly matchedPrefix: readonly string[]
  /** The program as it was written, if the rule only has its name. */
  readonly resolvedProgram?: string
  /** What is allowed is also allowed outside of the sandbox. */
  readonly bypassesSandbox: boolean
  /** Why a rule that lets commands out does not let this one. */
  readonly kept?: Kept
}

export interface Kept {
  readonly because: string
  /** What would have led outside. */
  readonly otherwise: string
}

/** A rule that would have allowed a command, but for something. */
export interface NearMiss {
  readonly rule: PrefixRule
  readonly because: string
}

/** Nobody writes more of them before what a program is to do. */
export const MAX_OPTION_WORDS = 32

/** A pattern that takes the same time however many alternatives there are. */
export class CompiledRule {
  readonly rule: PrefixRule
  readonly #tail: readonly ReadonlySet<string>[]

  constructor(rule: PrefixRule) {
    this.rule = rule
    this.#tail = rule.pattern.slice(1).map((alternatives) => new Set(alternatives))
  }

  get programs(): readonly string[] {
    return this.rule.pattern[0]!
  }

  /** Whether the words after the program fit. */
  fits(words: readonly string[]): boolean {
    return this.#place(words) !== undefined
  }

  /** Of words that fit. */
  prefixOf(program: string, words: readonly string[]): readonly string[] {
    const at = this.#place(words) ?? 1
    return [program, ...words.slice(at, at + this.#tail.length)]
  }

  /**
   * Where the words are that the pattern has after the program. An allow rule means what it says. One that prompts or
   * forbids `git push` means `git -C . push`, too: options may come first, each perhaps with a value.
   */
  #place(words: readonly string[]): number | undefined {
    const last = this.rule.decision === 'allow' ? 1 : Math.min(words.length, MAX_OPTION_WORDS + 1)
    let isValue = false
    for (let at = 1; at <= last; at++) {
      if (this.#fitsAt(words, at)) return at
      const isOption = words[at]?.startsWith('-') ?? false
      if (!isOption && !isValue) return undefined
      isValue = isOption
    }
    return undefined
  }

  #fitsAt(words: readonly string[], at: number): boolean {
    return words.length >= at + this.#tail.length && this.#tail.every((allowed, i) => allowed.has(words[at + i]!))
  }
}

/** What about the command the rule does not speak of; undefined if there is nothing. Only allow rules have to. */
export function unnamedPart({ env, redirects }: PrefixRule, segment: Segment): string | undefined {
  const variable = segment.assignments.find(({ name }) => !env.some((pattern) => permitsVariable(pattern, name)))
  if (variable) return `it sets ${variable.name}, and the rule has no env=["${variable.name}"]`
  const redirect = segment.redirects.find(
    (each) => !isHarmlessRedirect(each) && !redirects.some((pattern) => permitsRedirect(pattern, each)),
  )
  if (!redirect) return undefined
  const shown = shownRedirect(redirect)
  return `it redirects with \`${shown}\`, and the rule has no redirects=[${JSON.stringify(shown)}]`
}

/**
 * Why a command stays in the sandbox whatever a rule says: the shell opens what is redirected, and follows links there
 * that could have been made from inside.
 */
export function keptByRedirect(segment: Segment): Kept | undefined {
  const redirect = segment.redirects.find((each) => !isHarmlessRedirect(each))
  if (!redirect) return undefined
  const because = `outside, \`${shownRedirect(redirect)}\` could follow a link to any file`
  return { because, otherwise: 'without that redirect it would run outside of the sandbox' }
}
