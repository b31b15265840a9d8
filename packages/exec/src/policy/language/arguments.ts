import type { Argument, Call, Literal } from './parser.ts'
import { excerpt, Refusal } from './refusal.ts'

export interface Signature {
  /** In this order, where no name is given. */
  readonly positional: readonly string[]
  /** Only by name. */
  readonly named?: readonly string[]
}

/** The arguments of a call by the names of the parameters. Every mistake in them is a refusal at its place. */
export class Arguments {
  readonly #call: Call
  readonly #values = new Map<string, Literal>()

  constructor(call: Call, { positional, named = [] }: Signature) {
    this.#call = call
    const known = new Set([...positional, ...named])
    for (const [index, argument] of call.arguments.entries()) {
      const name = argument.name ?? this.#byPlace(argument, index, positional)
      if (!known.has(name)) {
        throw new Refusal(
          argument.offset,
          `${call.name} has no parameter \`${excerpt(name)}\`; it has ${[...known].join(', ')}`,
        )
      }
      if (this.#values.has(name)) throw new Refusal(argument.offset, `\`${name}\` is given twice`)
      this.#values.set(name, argument.value)
    }
  }

  /** Where it is written, for what is wrong with its value. */
  offset(name: string): number {
    return this.#values.get(name)?.offset ?? this.#call.offset
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  required(name: string): Literal {
    const value = this.#values.get(name)
    if (!value) throw new Refusal(this.#call.offset, `${this.#call.name} needs \`${name}\``)
    return value
  }

  /** The items of a list; none if it is not given. */
  list(name: string): readonly Literal[] {
    const value = this.#values.get(name)
    if (!value) return []
    if (value.kind !== 'list') throw new Refusal(value.offset, `\`${name}\` must be a list (got ${kindOf(value)})`)
    return value.items
  }

  string(name: string): string {
    const value = this.required(name)
    if (value.kind !== 'string') throw new Refusal(value.offset, `\`${name}\` must be a string (got ${kindOf(value)})`)
    return value.value
  }

  /** One of these words, and `otherwise` if it is not given. */
  word<T extends string>(name: string, words: readonly T[], otherwise?: T): T {
    if (otherwise !== undefined && !this.has(name)) return otherwise
    const given = this.string(name)
    const word = words.find((each) => each === given)
    if (word !== undefined) return word
    throw new Refusal(this.offset(name), `invalid ${name}: ${JSON.stringify(excerpt(given))}; use ${words.join(', ')}`)
  }

  justification(): string | undefined {
    const value = this.#values.get('justification')
    if (!value || value.kind === 'none') return undefined
    const text = this.string('justification')
    if (text.trim() === '') throw new Refusal(value.offset, 'justification cannot be empty')
    return text
  }

  #byPlace(argument: Argument, index: number, positional: readonly string[]): string {
    if (this.#call.arguments[index - 1]?.name !== undefined) {
      throw new Refusal(argument.offset, 'an argument without a name after one with a name')
    }
    const name = positional[index]
    if (name !== undefined) return name
    throw new Refusal(argument.offset, `${this.#call.name} takes ${positional.length} arguments without a name at most`)
  }
}

export function kindOf(value: Literal): string {
  switch (value.kind) {
    case 'boolean':
      return value.value ? 'True' : 'False'
    case 'none':
      return 'None'
    default:
      return value.kind
  }
}
