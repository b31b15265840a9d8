/**
 * Schemas as plain functions: each takes a value that came out of `JSON.parse` and returns it typed, or throws a
 * `DecodeError`. Members that a schema does not name are ignored, so that newer peers can add some.
 *
 * Hand-written because a schema library would cost more at start-up than the whole server does, and because the
 * wire draws a line that libraries do not: optional members accept `null`, members with a default reject it.
 */
export type Schema<T> = (value: unknown) => T
export type Decoded<S> = S extends Schema<infer T> ? T : never

/** Params that do not have the shape their method needs. The message names the member at fault. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

export const string: Schema<string> = (value) => (typeof value === 'string' ? value : mismatch(value, 'a string'))
export const boolean: Schema<boolean> = (value) => (typeof value === 'boolean' ? value : mismatch(value, 'a boolean'))

/** A JSON integer from 0 to `max`. Above 2^53 it loses its low bits, which no count or timer of the wire needs. */
export function unsigned(max = 2 ** 64): Schema<number> {
  return (value) => {
    if (typeof value !== 'number') return mismatch(value, 'a number')
    if (Number.isInteger(value) && value >= 0 && value <= max) return value
    throw new DecodeError(`expected a whole number from 0 to ${max === 2 ** 64 ? '2^64-1' : max}, got ${value}`)
  }
}

export function oneOf<const T extends readonly string[]>(...variants: T): Schema<T[number]> {
  return (value) => {
    const given = string(value)
    if (variants.includes(given)) return given
    const list = variants.map((variant) => `\`${variant}\``).join(', ')
    throw new DecodeError(
      `unknown variant \`${excerpt(given)}\`, expected ${variants.length > 1 ? 'one of ' : ''}${list}`,
    )
  }
}

export function array<T>(item: Schema<T>): Schema<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return mismatch(value, 'an array')
    return value.map((element, index) => inside(`[${index}]`, item, element))
  }
}

/** An object used as a dictionary of strings. Read it with `Object.entries`: a key may be `__proto__`. */
export const stringRecord: Schema<Record<string, string>> = (value) => {
  const record = plainObject(value)
  for (const key of Object.keys(record)) inside(key, string, record[key])
  return record as Record<string, string>
}

export const plainObject: Schema<Record<string, unknown>> = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : mismatch(value, 'an object')

/** Absent and `null` are the same. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return (value) => (value === undefined || value === null ? undefined : schema(value))
}

/** May be absent, but not `null`. */
export function withDefault<T>(schema: Schema<T>, fallback: T): Schema<T> {
  return (value) => (value === undefined ? fallback : schema(value))
}

export function object<const F extends Record<string, Schema<unknown>>>(
  fields: F,
): Schema<{ [K in keyof F]: Decoded<F[K]> }> {
  const entries = Object.entries(fields)
  return (value) => {
    const given = plainObject(value)
    const decoded: Record<string, unknown> = {}
    for (const [name, schema] of entries) {
      decoded[name] = inside(name, schema, given[name])
    }
    return decoded as { [K in keyof F]: Decoded<F[K]> }
  }
}

/** The params of a method that has none: absent, `null` or any object. */
export const nothing: Schema<undefined> = (value) => {
  if (value !== undefined && value !== null) plainObject(value)
  return undefined
}

function inside<T>(member: string, schema: Schema<T>, value: unknown): T {
  try {
    return schema(value)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (value === undefined && !member.startsWith('[')) throw new DecodeError(`missing field \`${member}\``)
    throw new DecodeError(`${excerpt(member)}: ${error.message}`.replace(': [', '['))
  }
}

function mismatch(value: unknown, expected: string): never {
  const kind =
    value === null ? 'null' : Array.isArray(value) ? 'an array' : value === undefined ? 'nothing' : `a ${typeof value}`
  throw new DecodeError(`expected ${expected}, got ${kind.replace('a object', 'an object')}`)
}

/** A hostile value must not make the error as large as itself. */
function excerpt(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`
}
