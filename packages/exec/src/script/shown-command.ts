import { shellQuote } from '../approvals/shell-quote.ts'

/** A command as one would type it, for messages; only the beginning of a long one. */
export function shownCommand(words: readonly string[], max = 1000): string {
  let text = ''
  for (const word of words) {
    if (text.length > max) break
    // Quoted, it is not shorter.
    text += `${text && ' '}${shellQuote([beginning(word, max + 2)])}`
  }
  return text.length > max ? `${beginning(text, max)}…` : text
}

/** Whole characters only: half of one would be shown as something else. */
function beginning(text: string, max: number): string {
  return text.slice(0, (text.codePointAt(max - 1) ?? 0) > 0xffff ? max - 1 : max)
}
