/** As much of JSON Schema as tool definitions need: what is not here cannot be checked, and is not used. */
export type JsonSchema =
  | {
      readonly type: 'string'
      readonly description?: string
      readonly enum?: readonly string[]
      readonly maxLength?: number
    }
  | { readonly type: 'number' | 'integer' | 'boolean'; readonly description?: string }
  | { readonly type: 'array'; readonly description?: string; readonly items: JsonSchema; readonly maxItems?: number }
  | ObjectSchema
  | { readonly description?: string; readonly anyOf: readonly JsonSchema[] }

export interface ObjectSchema {
  readonly type: 'object'
  readonly description?: string
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/** What a model may write is bounded before anybody looks at it, also where a schema does not say so. */
const MAX_ITEMS = 1000
const MAX_CHARACTERS = 1024 * 1024

/** What is wrong with a value, with the way to it; undefined if nothing. A null stands for something left out. */
export function mismatch(schema: JsonSchema, value: unknown, path = ''): string | undefined {
  const at = path === '' ? '' : `${path}: `
  if ('anyOf' in schema) {
    if (schema.anyOf.some((each) => mismatch(each, value, path) === undefined)) return undefined
    return `${at}expected ${schema.anyOf.map(described).join(' or ')}, got ${named(value)}`
  }
  switch (schema.type) {
    case 'string':
      if (typeof value !== 'string') return `${at}expected a string, got ${named(value)}`
      if (value.length > (schema.maxLength ?? MAX_CHARACTERS)) {
        return `${at}${value.length} characters are too many; ${schema.maxLength ?? MAX_CHARACTERS} are allowed`
      }
      if (schema.enum && !schema.enum.includes(value)) {
        return `${at}unknown variant \`${value.slice(0, 40)}\`, expected ${described(schema)}`
      }
      return undefined
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return `${at}expected a number, got ${named(value)}`
      if (schema.type === 'integer' && !Number.isSafeInteger(value)) return `${at}expected a whole number, got ${value}`
      return undefined
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${at}expected true or false, got ${named(value)}`
    case 'array': {
      if (!Array.isArray(value)) return `${at}expected a list, got ${named(value)}`
      const maxItems = schema.maxItems ?? MAX_ITEMS
      if (value.length > maxItems) return `${at}${value.length} items are too many; ${maxItems} are allowed`
      return firstOf(value.map((item, index) => mismatch(schema.items, item, `${path}[${index}]`)))
    }
    case 'object':
      return objectMismatch(schema, value, path)
  }
}

function objectMismatch(schema: ObjectSchema, value: unknown, path: string): string | undefined {
  const at = path === '' ? '' : `${path}: `
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${at}expected an object, got ${named(value)}`
  }
  const missing = schema.required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return `${at}missing field \`${missing}\``
  return firstOf(
    Object.entries(value).map(([name, member]) => {
      const own = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      if (!own)
        return `${at}unknown field \`${name.slice(0, 40)}\`, expected ${Object.keys(schema.properties).join(', ')}`
      if (member === undefined || (member === null && !schema.required.includes(name))) return undefined
      return mismatch(own, member, path === '' ? name : `${path}.${name}`)
    }),
  )
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined)
}

function described(schema: JsonSchema): string {
  if ('anyOf' in schema) return schema.anyOf.map(described).join(' or ')
  if (schema.type === 'string' && schema.enum) return schema.enum.map((word) => `\`${word}\``).join(', ')
  return { object: 'an object', array: 'a list', boolean: 'true or false' }[schema.type as string] ?? `a ${schema.type}`
}

function named(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
