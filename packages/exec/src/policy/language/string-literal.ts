import { Refusal } from './refusal.ts'

export function isQuote(character: string | undefined): character is '"' | "'" {
  return character === '"' || character === "'"
}

const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const NUMERIC = /x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3})/y
const ORDINARY = /[^"'\\\r\n\0]+/y

/** Reads the string whose opening quote is at `start`. In a raw one a backslash stays, and still guards a quote. */
export function stringLiteral(
  text: string,
  start: number,
  mode: 'escaped' | 'raw',
): { readonly value: string; readonly end: number } {
  const quote = text[start]!
  const isTriple = text.startsWith(quote.repeat(3), start)
  const closing = isTriple ? quote.repeat(3) : quote
  const parts: string[] = []
  let at = start + closing.length
  for (;;) {
    const character = text[at]
    if (character === undefined) throw new Refusal(start, 'the string is never closed')
    if (text.startsWith(closing, at)) return { value: checked(parts.join(''), start), end: at + closing.length }
    if (character === '\n' || (character === '\r' && text[at + 1] === '\n')) {
      if (!isTriple)
        throw new Refusal(start, `the string is not closed on its line: use ${quote.repeat(3)} for several`)
      parts.push('\n')
      at += character === '\r' ? 2 : 1
    } else if (character === '\\') {
      const sequence = mode === 'raw' ? rawEscape(text, at) : escaped(text, at)
      parts.push(sequence.value)
      at = sequence.end
    } else if (isQuote(character)) {
      parts.push(character)
      at++
    } else {
      ORDINARY.lastIndex = at
      const ordinary = ORDINARY.exec(text)?.[0]
      if (ordinary === undefined) throw new Refusal(at, 'a NUL or a lone carriage return in a string')
      parts.push(ordinary)
      at += ordinary.length
    }
  }
}

function rawEscape(text: string, at: number): { value: string; end: number } {
  const next = text[at + 1]
  return isQuote(next) || next === '\\' ? { value: `\\${next}`, end: at + 2 } : { value: '\\', end: at + 1 }
}

function escaped(text: string, at: number): { value: string; end: number } {
  const next = text.startsWith('\r\n', at + 1) ? '\n' : text[at + 1]
  const simple = next !== undefined && Object.hasOwn(SIMPLE, next) ? SIMPLE[next] : undefined
  if (simple !== undefined) return { value: simple, end: at + (text[at + 1] === '\r' ? 3 : 2) }
  NUMERIC.lastIndex = at + 1
  const found = NUMERIC.exec(text)
  if (!found) throw new Refusal(at, 'unknown escape: write `\\\\` for a backslash, or put an r before the string')
  const [all, byte, short, long, octal] = found
  const point = octal === undefined ? Number.parseInt((byte ?? short ?? long)!, 16) : Number.parseInt(octal, 8)
  const end = at + 1 + all.length
  // What is above could be meant as a byte or as a character.
  if ((byte ?? octal) !== undefined && point > 0x7f) throw new Refusal(at, 'use \\u for characters beyond ASCII')
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) throw new Refusal(at, 'there is no such character')
  return { value: String.fromCodePoint(point), end }
}

/** No word of a command can hold one, and what compares with it would stop there. */
function checked(value: string, start: number): string {
  if (value.includes('\0')) throw new Refusal(start, 'a string cannot hold a NUL character')
  return value
}
