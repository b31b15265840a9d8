import type { Range } from './code-points.ts'
import type { PatternNode } from './parse-pattern.ts'
import { PatternError } from './pattern-error.ts'

export type Place = Extract<PatternNode, { kind: 'at' }>['place']

/** One step of a program. Numbers are where it goes on. */
type Step =
  | { readonly kind: 'one'; readonly ranges: readonly Range[]; readonly next: number }
  | { readonly kind: 'at'; readonly place: Place; readonly next: number }
  | { readonly kind: 'fork'; left: number; readonly right: number }
  | { readonly kind: 'match' }

export interface Program {
  readonly steps: readonly Step[]
  readonly start: number
}

/** What a search costs grows with it. */
const MAX_STEPS = 1500

/** A program that runs along all ways through the pattern at once, and so never has to go back. */
export function compilePattern(node: PatternNode): Program {
  const compiler = new Compiler()
  const match = compiler.add({ kind: 'match' })
  const start = compiler.compile(node, match)
  return { steps: compiler.steps, start }
}

class Compiler {
  readonly steps: Step[] = []
  #visits = 0

  add(step: Step): number {
    return this.steps.push(step) - 1
  }

  /** Backwards: `next` is what comes after the node. Returns where the node begins. */
  compile(node: PatternNode, next: number): number {
    // Visits, not steps: `((){1000}){1000}` has none of those.
    if (++this.#visits > MAX_STEPS) {
      throw new PatternError(
        'The pattern is too large, with all its repetitions: search for less, or repeat less often',
      )
    }
    switch (node.kind) {
      case 'one':
        return this.add({ kind: 'one', ranges: node.ranges, next })
      case 'at':
        return this.add({ kind: 'at', place: node.place, next })
      case 'all':
        return node.parts.reduceRight((after, part) => this.compile(part, after), next)
      case 'either':
        return node.options
          .map((option) => this.compile(option, next))
          .reduceRight((right, left) => this.add({ kind: 'fork', left, right }))
      case 'repeat':
        return this.#repeat(node, next)
    }
  }

  #repeat({ part, min, max }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let start = next
    if (max === Infinity) {
      const fork: Step = { kind: 'fork', left: next, right: next }
      start = this.add(fork)
      fork.left = this.compile(part, start)
    } else {
      for (let i = min; i < max; i++) start = this.add({ kind: 'fork', left: this.compile(part, start), right: next })
    }
    for (let i = 0; i < min; i++) start = this.compile(part, start)
    return start
  }
}
