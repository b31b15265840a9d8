/** Every line becomes a string where a text is patched or compared. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_LINES = 2_000_000

const LF = 0x0a

/** What is too much of a text, in words that follow `has`; undefined if nothing is. */
export function excessOf(content: Uint8Array): string | undefined {
  if (content.length > MAX_BYTES) return `more than ${MAX_BYTES} bytes`
  if (content.length <= MAX_LINES) return undefined
  let lines = 0
  for (let at = content.indexOf(LF); at !== -1 && lines <= MAX_LINES; at = content.indexOf(LF, at + 1)) lines++
  return lines > MAX_LINES ? `more than ${MAX_LINES} lines` : undefined
}
