import { ANY_RUN, NamePattern, type NameToken } from './name-pattern.ts'

/** `**`: any number of directories, also none. */
const DEEP = 'deep'

/** How far into a pattern the way to some directory has come; more than one place where `**` leaves a choice. */
export type Positions = readonly number[]

/**
 * A pattern for paths below some directory, followed name by name as a walk goes down: whoever enters a directory keeps
 * the positions reached there, and each name in it costs one step, however deep it is.
 */
export class PathPattern {
  readonly start: Positions
  readonly #segments: readonly (NamePattern | typeof DEEP)[]
  readonly #hidden: boolean

  /** `hidden`: whether wildcards, `**` among them, match names that begin with a dot. */
  constructor(segments: readonly (readonly NameToken[])[], hidden: boolean) {
    this.#hidden = hidden
    this.#segments = segments.map((tokens) => (isDeep(tokens) ? DEEP : new NamePattern(tokens, hidden)))
    // What ends in `**` means everything below a directory, not the directory itself.
    if (this.#segments.at(-1) === DEEP) this.#segments = [...this.#segments, new NamePattern([ANY_RUN], hidden)]
    this.start = this.#withoutDirectories([0])
  }

  /** A pattern for a name at any depth. */
  static anywhere(name: readonly NameToken[], hidden: boolean): PathPattern {
    return new PathPattern([[ANY_RUN, ANY_RUN], withoutRepeatedRuns(name)], hidden)
  }

  matches(at: Positions, name: string): boolean {
    const last = this.#segments.length - 1
    for (const position of at) {
      if (position === last && (this.#segments[position] as NamePattern).matches(name)) return true
    }
    return false
  }

  /** Where the pattern stands in a directory below; empty if it matches nothing there. */
  enter(at: Positions, name: string): Positions {
    const reached: number[] = []
    for (const position of at) {
      const segment = this.#segments[position]!
      if (segment === DEEP) {
        if (this.#hidden || !name.startsWith('.')) reached.push(position)
      } else if (position + 1 < this.#segments.length && segment.matches(name)) reached.push(position + 1)
    }
    const next = this.#withoutDirectories(reached)
    return next.length === at.length && next.every((position, index) => position === at[index]) ? at : next
  }

  /** Adds the places behind every `**`, and keeps them sorted and apart. */
  #withoutDirectories(positions: readonly number[]): Positions {
    const all = new Set(positions)
    for (const position of all) if (this.#segments[position] === DEEP) all.add(position + 1)
    return [...all].sort((a, b) => a - b)
  }
}

function isDeep(tokens: readonly NameToken[]): boolean {
  return tokens.length >= 2 && tokens.every((token) => token === ANY_RUN)
}

/** Where a pattern is for names, `**` is no more than `*`. */
function withoutRepeatedRuns(tokens: readonly NameToken[]): NameToken[] {
  return tokens.filter((token, index) => token !== ANY_RUN || tokens[index - 1] !== ANY_RUN)
}
