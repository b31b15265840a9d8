const MAX_SHOWN = 1000

/** A command as one would type it, for messages; only the beginning of a long one. */
export function shownCommand(words: readonly string[]): string {
  let text = ''
  for (const word of words) {
    if (text.length > MAX_SHOWN) break
    text += `${text && ' '}${quoted(word.length > 2 * MAX_SHOWN ? word.slice(0, 2 * MAX_SHOWN) : word)}`
  }
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
