/**
 * Splits an example as a POSIX shell would. It is one command: what would end it, or lead it elsewhere, is refused, for
 * taken as a word it would show something else than whoever wrote it believes.
 */
export function shellWords(text: string): { readonly words: readonly string[] } | { readonly refused: string } {
  const words: string[] = []
  let word: string[] | undefined
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === ' ' || character === '\t') {
      if (word) words.push(word.join(''))
      word = undefined
      continue
    }
    if (/[|&;<>()\n]/.test(character)) return { refused: `an unquoted ${JSON.stringify(character)}` }
    word ??= []
    if (character === "'" || character === '"') {
      const end = character === "'" ? text.indexOf("'", i + 1) : doubleQuoted(text, i + 1, word)
      if (end < 0) return { refused: 'a quote that is never closed' }
      if (character === "'") word.push(text.slice(i + 1, end))
      i = end
    } else if (character === '\\') {
      const next = text[++i]
      if (next === undefined) return { refused: 'a backslash at the end' }
      word.push(next)
    } else word.push(character)
  }
  if (word) words.push(word.join(''))
  return { words }
}

/** Where it ends, or -1. A backslash there guards only what would mean something. */
function doubleQuoted(text: string, from: number, word: string[]): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '"') return i
    if (text[i] === '\\' && /["\\$`]/.test(text[i + 1] ?? '')) i++
    word.push(text[i]!)
  }
  return -1
}
