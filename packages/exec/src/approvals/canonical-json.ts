/** Deep enough for every key that we make, and far from the end of the stack. */
const MAX_DEPTH = 64

/**
 * One text for everything that is equal: the order of members says nothing, and a member that is undefined is none.
 * Throws for what JSON would write as something else (a date, `NaN`, a map): two things must not become one text.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new TypeError(`a key is nested deeper than ${MAX_DEPTH} levels`)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      break
    case 'object': {
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item, depth + 1)).join(',')}]`
      if (!isPlain(value)) break
      const members = Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
      return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member, depth + 1)}`).join(',')}}`
    }
  }
  throw new TypeError(`a key holds ${describe(value)}, which JSON cannot tell apart from other things`)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? `a ${value?.constructor?.name ?? 'strange object'}` : `something ${typeof value}`
}
