/** Whether the text is the pattern, in which `*` is any number of characters. Looks at each of them once. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  const first = parts[0]!
  if (parts.length === 1) return text === pattern
  const last = parts.at(-1)!
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
