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

const HEX = '[0-9A-Fa-f]'
const ESCAPE = new RegExp(
  String.raw`\\(?:x\{(${HEX}*)\}?|x(${HEX}{1,2})|u(${HEX}{1,4})|U(${HEX}{1,8})|([0-7]{1,3})|(.))`,
  'gs',
)

/** What `$'…'` says. Escapes that stand for control characters (`\cx`) stay as they are. */
export function decodeAnsiC(text: string): string {
  const decoded = text.replace(ESCAPE, (whole: string, ...groups: (string | undefined)[]) => {
    const [braced, hex, short, long, octal, letter = ''] = groups
    const digits = hex ?? short ?? long
    if (digits !== undefined) return character(Number.parseInt(digits, 16))
    // Of these only the last byte counts.
    if (braced !== undefined) return character(Number.parseInt(braced.slice(-2) || '0', 16))
    if (octal !== undefined) return character(Number.parseInt(octal, 8) & 0xff)
    return SIMPLE[letter] ?? (letter === 'c' ? whole : letter)
  })
  // There the word ends for the system.
  const end = decoded.indexOf('\0')
  return end < 0 ? decoded : decoded.slice(0, end)
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
