/** Why a script is not plain, and where in it. */
export interface Refusal {
  readonly what: string
  readonly offset: number
}

/** For people: `a command substitution at 1:7`. Lines and columns count from one, as editors do. */
export function describeRefusal({ what, offset }: Refusal, script: string): string {
  const before = script.slice(0, offset)
  const line = before.split('\n').length
  return `${what} at ${line}:${offset - before.lastIndexOf('\n')}`
}
