/** Hunks that make `next` of `old`: each has as much around it as it takes to be found where it belongs. */
export function hunksBetween(old: readonly string[], next: readonly string[]): string[] {
  const edits = editScript(old, next)
  const hunks: string[] = []
  let cursor = 0
  for (let index = 0; index < edits.length; ) {
    if (edits[index]!.kind === 'keep') {
      index++
      continue
    }
    let end = index
    while (end < edits.length && edits[end]!.kind !== 'keep') end++
    let start = index
    // What lies before the cursor belongs to the hunk before.
    while (!isFound(edits.slice(start, end), old, cursor)) {
      const canGrowUp = start > 0 && edits[start - 1]!.kind === 'keep' && edits[start - 1]!.at >= cursor
      if (canGrowUp) start--
      if (end < edits.length) end++
      else if (!canGrowUp) break
      while (end < edits.length && edits[end]!.kind !== 'keep') end++
    }
    const hunk = edits.slice(start, end)
    hunks.push('@@', ...hunk.map(({ kind, text }) => `${SIGNS[kind]}${text}`))
    cursor = Math.max(cursor, ...hunk.filter(({ kind }) => kind !== 'add').map(({ at }) => at + 1))
    index = end
  }
  return hunks
}

const SIGNS = { keep: ' ', remove: '-', add: '+' } as const

interface Edit {
  readonly kind: keyof typeof SIGNS
  readonly text: string
  /** In `old`. */
  readonly at: number
}

/** By the longest common subsequence, in the plain way. */
function editScript(old: readonly string[], next: readonly string[]): Edit[] {
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(next.length + 1).fill(0))
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = next.length - 1; b >= 0; b--) {
      const [row, below] = [common[a]!, common[a + 1]!]
      row[b] = old[a] === next[b] ? below[b + 1]! + 1 : Math.max(below[b]!, row[b + 1]!)
    }
  }
  const edits: Edit[] = []
  let [a, b] = [0, 0]
  while (a < old.length || b < next.length) {
    if (a < old.length && b < next.length && old[a] === next[b]) {
      edits.push({ kind: 'keep', text: old[a]!, at: a })
      a++
      b++
    } else if (b === next.length || (a < old.length && common[a + 1]![b]! >= common[a]![b + 1]!)) {
      edits.push({ kind: 'remove', text: old[a]!, at: a })
      a++
    } else {
      edits.push({ kind: 'add', text: next[b]!, at: a })
      b++
    }
  }
  return edits
}

/** Whether these lines are first found, from the cursor on, where they are. */
function isFound(hunk: readonly Edit[], old: readonly string[], cursor: number): boolean {
  const lines = hunk.filter(({ kind }) => kind !== 'add')
  const [first] = lines
  // Without any, they go to the end.
  if (!first) return hunk[0]!.at === old.length
  for (let at = cursor; at < first.at; at++) {
    if (lines.every(({ text }, index) => old[at + index] === text)) return false
  }
  return true
}
