import { Arguments, kindOf } from '../language/arguments.ts'
import type { Call, Literal } from '../language/parser.ts'
import { excerpt, Refusal } from '../language/refusal.ts'
import { shellWords } from '../language/shell-words.ts'
import { envPatternProblem } from './env-pattern.ts'
import { redirectPatternProblem } from './redirect-pattern.ts'
import { DECISIONS, type Origin, type PrefixRule } from './rule.ts'

export interface Example {
  readonly words: readonly string[]
  readonly isMatch: boolean
  readonly offset: number
}

const SIGNATURE = {
  positional: ['pattern', 'decision', 'match', 'not_match', 'justification'],
  named: ['sandbox', 'env', 'redirects'],
}

export function prefixRule(call: Call, origin: Origin): { rule: PrefixRule; examples: readonly Example[] } {
  const args = new Arguments(call, SIGNATURE)
  const pattern = patternOf(args)
  const decision = args.word('decision', DECISIONS, 'allow')
  const justification = args.justification()
  if (decision !== 'allow') {
    // It would look as if it held only for commands without them, and it holds for all.
    const useless = SIGNATURE.named.find((name) => args.has(name))
    if (useless)
      throw new Refusal(args.offset(useless), `\`${useless}\` is for allow rules: others hold whatever it is`)
  }
  const rule: PrefixRule = {
    kind: 'prefix',
    pattern,
    decision,
    ...(justification !== undefined && { justification }),
    sandbox: args.word('sandbox', ['keep', 'bypass'], 'keep'),
    env: patternsOf(args, 'env', envPatternProblem),
    redirects: patternsOf(args, 'redirects', redirectPatternProblem),
    origin,
  }
  return { rule, examples: [...examplesOf(args, 'match'), ...examplesOf(args, 'not_match')] }
}

function patternOf(args: Arguments): string[][] {
  const given = args.required('pattern')
  const pattern = args.list('pattern').map((element) => {
    if (element.kind === 'string') return [element.value]
    if (element.kind !== 'list') throw badElement(element)
    if (element.items.length === 0) throw new Refusal(element.offset, 'pattern alternatives cannot be empty')
    return [...new Set(element.items.map(wordOf))]
  })
  if (pattern.length === 0) throw new Refusal(given.offset, 'pattern cannot be empty')
  if (pattern[0]!.includes(''))
    throw new Refusal(given.offset, 'the first word of a pattern is a program: it has a name')
  return pattern
}

function wordOf(literal: Literal): string {
  if (literal.kind !== 'string') throw badElement(literal)
  return literal.value
}

function badElement(literal: Literal): Refusal {
  return new Refusal(literal.offset, `pattern element must be a string or list of strings (got ${kindOf(literal)})`)
}

function patternsOf(args: Arguments, name: string, problem: (pattern: string) => string | undefined): string[] {
  return args.list(name).map((item) => {
    if (item.kind !== 'string') throw new Refusal(item.offset, `\`${name}\` is a list of strings (got ${kindOf(item)})`)
    const wrong = problem(item.value)
    if (wrong) throw new Refusal(item.offset, `${name}: ${JSON.stringify(excerpt(item.value))} ${wrong}`)
    return item.value
  })
}

function examplesOf(args: Arguments, name: 'match' | 'not_match'): Example[] {
  return args.list(name).map((item) => {
    const words = exampleWords(item, name)
    if (words.length === 0) throw new Refusal(item.offset, `${name}: an example cannot be empty`)
    return { words, isMatch: name === 'match', offset: item.offset }
  })
}

function exampleWords(item: Literal, name: string): readonly string[] {
  if (item.kind === 'list') {
    return item.items.map((word) => {
      if (word.kind === 'string') return word.value
      throw new Refusal(word.offset, `${name}: the words of an example are strings (got ${kindOf(word)})`)
    })
  }
  if (item.kind !== 'string') {
    throw new Refusal(item.offset, `${name}: an example is a string or a list of strings (got ${kindOf(item)})`)
  }
  const split = shellWords(item.value)
  if ('words' in split) return split.words
  throw new Refusal(
    item.offset,
    `${name}: an example is one command, and this has ${split.refused}: write its words as a list`,
  )
}
