/** A header, its name in lower case. */
export type HttpField = readonly [name: string, value: string]

/** Whoever writes something more exact here, beware of lines that are all blanks: it must not take longer for them. */
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/

/** Undefined if the line is none: it has no name, blanks before the colon, or a control character in it. */
export function parseField(line: string): HttpField | undefined {
  const [, name, value] = FIELD.exec(line) ?? []
  return name === undefined || value === undefined ? undefined : [name.toLowerCase(), withoutBlanks(value)]
}

/** Not `trim`, which takes 0xA0 for a blank: it may be a part of a character. */
function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
