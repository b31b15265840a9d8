/** No longer than one wants to read: the beginning of a text of more than `max` characters. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${beginning(text, max)}…` : text
}

/** Whole characters only: half of one would be shown as something else. */
export function beginning(text: string, max: number): string {
  return text.slice(0, (text.codePointAt(max - 1) ?? 0) > 0xffff ? max - 1 : max)
}
