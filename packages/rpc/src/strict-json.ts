/**
 * JSON as the wire defines it: narrower than `JSON.parse`, which knows no limits and lets the last of two equal keys
 * win. The scan runs before the parser, so that a hostile text is refused before it becomes a hostile object.
 */
export interface JsonLimits {
  readonly maxDepth: number
  readonly maxValues: number
}

class JsonError extends Error {
  override readonly name = 'JsonError'
}

export interface StrictJson {
  value: unknown
  /** The text of the outermost object's member `id`, where it is a number. Numbers beyond 2^53 survive only as text. */
  idText: string | undefined
}

export function parseStrictJson(text: string, limits: JsonLimits): StrictJson {
  const json = parseShort(text, limits) ?? parseAny(text, limits)
  // Half a surrogate pair has no UTF-8 form: it could be named here and nowhere else.
  if (text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)) refuseLoneSurrogates(json.value)
  return json
}

/**
 * What is too short to go beyond any limit needs no scan if what was read from it is written in the same way, to the
 * letter: no key has been lost then, and no number has changed. Undefined if it takes a scan, or is not JSON.
 */
function parseShort(text: string, limits: JsonLimits): StrictJson | undefined {
  // Each level takes two characters, each value one.
  if (text.length > Math.min(2 * limits.maxDepth, limits.maxValues)) return undefined
  try {
    const value = JSON.parse(text)
    if (JSON.stringify(value) !== text) return undefined
    return { value, idText: typeof value?.id === 'number' ? String(value.id) : undefined }
  } catch {
    return undefined // The scan may know better what is wrong with it.
  }
}

function parseAny(text: string, limits: JsonLimits): StrictJson {
  const idText = scan(text, limits)
  try {
    return { value: JSON.parse(text), idText }
  } catch (cause) {
    throw new JsonError(`not JSON: ${(cause as Error).message.slice(0, 200)}`, { cause })
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c

/** Reads structure only and takes the grammar on trust: what is not JSON fails in the parser, after this. */
function scan(text: string, limits: JsonLimits): string | undefined {
  let values = 0
  let idText: string | undefined
  // For each open container the keys seen so far, or undefined for an array.
  const open: (Keys | undefined)[] = []
  let keys: Keys | undefined
  let keyExpected = false
  let key = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    switch (code) {
      case QUOTE: {
        const end = closingQuote(text, at)
        if (keyExpected && keys) {
          key = text.slice(at + 1, end)
          if (key.includes('\\')) key = decodeKey(text.slice(at, end + 1))
          if (!keys.add(key)) throw new JsonError(`duplicate object key \`${key.slice(0, 80)}\``)
          keyExpected = false
        } else values++
        at = end
        break
      }
      case 0x7b: // {
      case 0x5b: // [
        values++
        if (open.length === limits.maxDepth) throw new JsonError(`nested deeper than ${limits.maxDepth} levels`)
        keys = code === 0x7b ? new Keys() : undefined
        keyExpected = code === 0x7b
        open.push(keys)
        break
      case 0x7d: // }
      case 0x5d: // ]
        open.pop()
        keys = open[open.length - 1]
        keyExpected = false
        break
      case COMMA:
        keyExpected = keys !== undefined
        break
      case COLON:
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        break
      default: {
        // A number, true, false or null.
        let end = at + 1
        while (end < text.length && !endsScalar(text.charCodeAt(end))) end++
        if (open.length === 1 && key === 'id' && keys) idText = text.slice(at, end)
        values++
        at = end - 1
      }
    }
    if (values > limits.maxValues) throw new JsonError(`more than ${limits.maxValues} JSON values`)
  }
  return idText
}

/** The keys of one object. Most have a handful, for which an array is faster than a set. */
class Keys {
  #few: string[] = []
  #many: Set<string> | undefined

  /** False if the key was there already. */
  add(key: string): boolean {
    if (this.#many) return this.#many.size !== this.#many.add(key).size
    if (this.#few.includes(key)) return false
    this.#few.push(key)
    if (this.#few.length > 16) this.#many = new Set(this.#few)
    return true
  }
}

function closingQuote(text: string, opening: number): number {
  let end = opening
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return text.length
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
}

function decodeKey(literal: string): string {
  try {
    return JSON.parse(literal)
  } catch {
    return literal // Not JSON: the parser will say so.
  }
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === 0x5d || code === 0x7d || code <= 0x20 || code === COLON || code === QUOTE
}

function refuseLoneSurrogates(value: unknown): void {
  if (typeof value === 'string') {
    // Not `isWellFormed`: Node 20 and older browsers lack it in their types and some in fact.
    if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(value)) {
      throw new JsonError('a string holds half of a surrogate pair')
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      refuseLoneSurrogates(key)
      refuseLoneSurrogates(member)
    }
  }
}
