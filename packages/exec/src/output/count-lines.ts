const LF = 0x0a

/** A loop, because a call of `indexOf` for each line takes many times as long when all lines are empty. */
export function countLineEnds(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LF) count++
  return count
}

/** Text after the last line end is a line, too. */
export function countLines(bytes: Uint8Array): number {
  const last = bytes.at(-1)
  return countLineEnds(bytes) + (last === undefined || last === LF ? 0 : 1)
}
