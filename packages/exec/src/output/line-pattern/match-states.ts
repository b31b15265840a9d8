import { Alphabet } from './alphabet.ts'
import type { Range } from './code-points.ts'
import type { Place, Program } from './compile-pattern.ts'

/** What a state leads to besides states: a match; or none, at the end of a line or when the effort is spent. */
export const MATCHES = -1
export const NO_MATCH = -2

/** What one pattern may cost beyond a glance at each byte: some hundred milliseconds at worst. */
const MAX_EFFORT = 15_000_000
const TABLE_ENTRIES = 256 * 1024
/** What working out one transition costs compared with looking one up, besides what it visits. */
const EFFORT_AT_LEAST = 200
const EFFORT_PER_VISIT = 10
const EFFORT_TO_FORGET = 16 * 1024

/** What was before a place, and what comes after it. */
type Before = 'start' | 'word' | 'other'
type After = 'word' | 'other' | 'end'
const ALL_AFTERS: readonly After[] = ['word', 'other', 'end']

/** Where all ways through a program have got to at once. */
interface State {
  readonly places: readonly number[]
  readonly before: Before
}

/**
 * The states that a search can be in, found as they are needed and kept while there is room. They are numbered from 1; 0
 * is what is not known yet. Whether a place fits is decided when the character after it is known, so that `$` and `\b`
 * cost nothing extra.
 */
export class MatchStates {
  readonly alphabet: Alphabet
  /** Stands for a character after the last one. */
  readonly endOfLine: number
  /** Stands for whatever may come, a character or the end: a match only if it is one in any case. */
  readonly anything: number
  #effort = MAX_EFFORT
  readonly #program: Program
  readonly #members: readonly (Uint8Array | undefined)[]
  readonly #width: number
  readonly #table: Int32Array
  readonly #capacity: number
  readonly #numbers = new Map<string, number>()
  #states: State[] = []
  /** In which round a step was visited or a place taken: forgetting them all is adding one. */
  readonly #visited: Int32Array
  readonly #taken: Int32Array
  #round = 0

  constructor(program: Program) {
    const sets = program.steps.map((step) => (step.kind === 'one' ? step.ranges : undefined))
    const different = new Map<readonly Range[], Uint8Array>()
    this.alphabet = new Alphabet(sets.filter((ranges) => ranges !== undefined))
    for (const ranges of sets)
      if (ranges && !different.has(ranges)) different.set(ranges, this.alphabet.membersOf(ranges))
    this.#members = sets.map((ranges) => ranges && different.get(ranges))
    this.#program = program
    this.endOfLine = this.alphabet.size
    this.anything = this.endOfLine + 1
    this.#width = this.anything + 1
    this.#capacity = Math.floor(TABLE_ENTRIES / this.#width)
    this.#table = new Int32Array(this.#capacity * this.#width)
    this.#visited = new Int32Array(program.steps.length)
    this.#taken = new Int32Array(program.steps.length)
    this.#intern([], 'start')
  }

  /** At the beginning of a line. It is the first one also after all were forgotten. */
  get first(): number {
    return 1
  }

  /** Nothing more is worked out: what is not known is no match. */
  get isSpent(): boolean {
    return this.#effort <= 0
  }

  /** 0 if it has to be worked out. */
  known(state: number, group: number): number {
    return this.#table[(state - 1) * this.#width + group]!
  }

  /** Other states may be forgotten for the one that it returns. At `endOfLine` and `anything`, none are. */
  work(number: number, group: number): number {
    if (this.isSpent) return NO_MATCH
    const { places, before } = this.#states[number - 1]!
    if (group === this.anything) {
      const isCertain = ALL_AFTERS.every((after) => this.#reach(places, before, after) === undefined)
      return this.#learn(number, group, isCertain ? MATCHES : NO_MATCH)
    }
    const after = group === this.endOfLine ? 'end' : this.alphabet.isWord(group) ? 'word' : 'other'
    const waiting = this.#reach(places, before, after)
    if (waiting === undefined) return this.#learn(number, group, MATCHES)
    if (after === 'end') return this.#learn(number, group, NO_MATCH)
    const next: number[] = []
    for (const at of waiting) {
      const step = this.#program.steps[at]!
      if (step.kind !== 'one' || this.#members[at]![group] === 0 || this.#taken[step.next] === this.#round) continue
      this.#taken[step.next] = this.#round
      next.push(step.next)
    }
    // Sorted, so that the same places are the same state however they were reached.
    next.sort((a, b) => a - b)
    const isFull = this.#states.length === this.#capacity
    if (isFull) this.#forget()
    const state = this.#intern(next, after)
    return isFull ? state : this.#learn(number, group, state)
  }

  /** The steps that wait for a character; undefined if the pattern has matched already. */
  #reach(places: readonly number[], before: Before, after: After): readonly number[] | undefined {
    this.#effort -= EFFORT_AT_LEAST
    const round = ++this.#round
    const waiting: number[] = []
    // A match may begin anywhere, so also here.
    const open = [...places, this.#program.start]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#visited[at] === round) continue
      this.#visited[at] = round
      this.#effort -= EFFORT_PER_VISIT
      const step = this.#program.steps[at]!
      switch (step.kind) {
        case 'match':
          return undefined
        case 'one':
          waiting.push(at)
          break
        case 'fork':
          open.push(step.left, step.right)
          break
        case 'at':
          if (fits(step.place, before, after)) open.push(step.next)
      }
    }
    this.#effort -= places.length * EFFORT_PER_VISIT
    return waiting
  }

  #intern(places: readonly number[], before: Before): number {
    const key = `${before} ${places.join()}`
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#states.push({ places, before })
      this.#numbers.set(key, number)
    }
    return number
  }

  #learn(state: number, group: number, next: number): number {
    this.#table[(state - 1) * this.#width + group] = next
    return next
  }

  #forget(): void {
    this.#effort -= EFFORT_TO_FORGET + this.#states.length * EFFORT_PER_VISIT
    this.#numbers.clear()
    this.#states = []
    this.#table.fill(0)
    this.#intern([], 'start')
  }
}

function fits(place: Place, before: Before, after: After): boolean {
  switch (place) {
    case 'start':
      return before === 'start'
    case 'end':
      return after === 'end'
    case 'edge':
      return (before === 'word') !== (after === 'word')
    case 'no-edge':
      return (before === 'word') === (after === 'word')
  }
}
