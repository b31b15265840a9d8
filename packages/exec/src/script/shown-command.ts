import { shellQuote } from '../approvals/shell-quote.ts'
import { beginning, shortened } from '../output/shortened.ts'

/** A command as one would type it, for messages; only the beginning of a long one. */
export function shownCommand(words: readonly string[], max = 1000): string {
  let text = ''
  for (const word of words) {
    if (text.length > max) break
    // Quoted, it is not shorter.
    text += `${text && ' '}${shellQuote([beginning(word, max + 2)])}`
  }
  return shortened(text, max)
}
