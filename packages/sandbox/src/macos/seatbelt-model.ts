import type { SeatbeltProfile } from './seatbelt-profile.ts'

/** For tests: what a profile decides, by the rules of Seatbelt as far as we use them. The last clause that matches wins. */
export class SeatbeltModel {
  readonly #clauses: readonly Expression[]
  readonly #parameters: Readonly<Record<string, string>>
  readonly #encode: (path: string) => string

  /** Nobody says whether Seatbelt compares bytes or characters. */
  constructor({ profile, parameters }: SeatbeltProfile, units: 'bytes' | 'characters' = 'characters') {
    this.#clauses = parse(profile)
    this.#parameters = parameters
    this.#encode = units === 'bytes' ? (path) => Buffer.from(path).toString('latin1') : (path) => path
  }

  allows(operation: string, path: string, kind: 'DIRECTORY' | 'REGULAR-FILE' = 'REGULAR-FILE'): boolean {
    const decisive = this.#clauses.findLast((clause) => {
      const [verdict, ...rest] = clause as readonly Expression[]
      if (verdict !== 'allow' && verdict !== 'deny') return false
      const operations = rest.filter((each) => typeof each === 'string')
      const filters = rest.filter((each) => typeof each !== 'string' && each[0] !== 'with') as Expression[][]
      if (!operations.some((name) => covers(name, operation))) return false
      return filters.length === 0 || filters.some((filter) => this.#matches(filter, this.#encode(path), kind))
    })
    return decisive?.[0] === 'allow'
  }

  #matches([name, ...given]: readonly Expression[], path: string, kind: string): boolean {
    const filters = given as Expression[][]
    const text = () => this.#text(given[0]!)
    switch (name) {
      case 'require-all':
        return filters.every((filter) => this.#matches(filter, path, kind))
      case 'require-any':
        return filters.some((filter) => this.#matches(filter, path, kind))
      case 'literal':
        return path === text()
      case 'subpath':
        return path === text() || path.startsWith(`${text()}/`)
      case 'regex':
        return new RegExp(text(), 's').test(path)
      case 'vnode-type':
        return given[0] === kind
      default:
        return false // About something else than files.
    }
  }

  #text(expression: Expression): string {
    if (typeof expression === 'string') return expression
    const [name, key] = expression
    const value = this.#parameters[String(key)]
    if (name !== 'param' || value === undefined) throw new Error(`cannot evaluate ${JSON.stringify(expression)}`)
    return this.#encode(value)
  }
}

type Expression = string | readonly Expression[]

function covers(name: string, operation: string): boolean {
  return name === 'default' || name === operation || (name.endsWith('*') && operation.startsWith(name.slice(0, -1)))
}

/** Throws at everything that is not a list of lists, so that text which got out of its quotes is noticed. */
function parse(source: string): Expression[] {
  const stack: Expression[][] = [[]]
  const tokens = source.matchAll(/\s+|[()]|#"([^"]*)"|"([^"\\]*)"|([A-Za-z0-9*.-]+)|(.)/gs)
  for (const [token, raw, quoted, word, stranger] of tokens) {
    if (stranger !== undefined) throw new Error(`stray ${JSON.stringify(stranger)} in the profile`)
    if (token === '(') stack.push([])
    else if (token === ')') {
      const list = stack.pop()!
      if (stack.length === 0) throw new Error('too many closing brackets')
      stack.at(-1)!.push(list)
    } else {
      const text = raw ?? quoted ?? word
      if (text !== undefined) stack.at(-1)!.push(text)
    }
  }
  if (stack.length !== 1 || stack[0]!.some((each) => typeof each === 'string')) throw new Error('unbalanced profile')
  return stack[0]!
}
