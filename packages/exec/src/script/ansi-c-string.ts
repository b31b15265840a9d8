const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const ESCAPE = /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|(.))/gis

/** What `$'…'` says. Escapes that stand for control characters (`\cx`) stay as they are. */
export function decodeAnsiC(text: string): string {
  return text.replace(
    ESCAPE,
    (whole: string, hex?: string, short?: string, long?: string, octal?: string, letter?: string) => {
      const digits = hex ?? short ?? long
      if (digits !== undefined) return character(Number.parseInt(digits, 16))
      if (octal !== undefined) return character(Number.parseInt(octal, 8) & 0xff)
      return SIMPLE[letter ?? ''] ?? (letter === 'c' ? whole : (letter ?? ''))
    },
  )
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
