import { type Difference, differences } from './line-diff.ts'
import { excessOf } from './text-limits.ts'

const CONTEXT_LINES = 1
/** More than anybody looks at. The change itself is not shortened. */
const MAX_CHARACTERS = 1024 * 1024

export interface DiffNames {
  readonly from: string
  readonly to: string
}

/** What a change does, to be looked at. What is not UTF-8 is shown as `\xff`. Undefined: there is no such file. */
export function unifiedDiff(before: Uint8Array | undefined, after: Uint8Array | undefined, names: DiffNames): string {
  const rows: string[] = [
    before ? `--- a/${names.from}` : '--- /dev/null',
    after ? `+++ b/${names.to}` : '+++ /dev/null',
  ]
  // What is overwritten or deleted may be larger than what can be patched.
  if ([before, after].some((content) => content && excessOf(content) !== undefined)) {
    const [was, is] = [before, after].map((content) => content?.length ?? 0)
    return [...rows, `… ${was} bytes become ${is}: that is too much to be compared and shown`].join('\n')
  }
  const [a, b] = [shownLines(before), shownLines(after)]
  let characters = 0
  const push = (row: string) => {
    characters += row.length + 1
    rows.push(row)
  }
  const pushLine = (sign: string, line: string) => {
    push(`${sign}${line.endsWith('\n') ? line.slice(0, -1) : line}`)
    if (!line.endsWith('\n')) push('\\ No newline at end of file')
  }
  const groups = grouped(differences(a, b))
  for (const group of groups) {
    const [first, last] = [group[0]!, group.at(-1)!]
    const start = Math.max(0, first.aStart - CONTEXT_LINES)
    const end = Math.min(a.length, last.aEnd + CONTEXT_LINES)
    const lead = first.aStart - start
    const bStart = first.bStart - lead
    const bEnd = last.bEnd + (end - last.aEnd)
    push(`@@ -${span(start, end)} +${span(bStart, bEnd)} @@`)
    let at = start
    for (const { aStart, aEnd, bStart, bEnd } of group) {
      for (; at < aStart; at++) pushLine(' ', a[at]!)
      for (; at < aEnd && characters < MAX_CHARACTERS; at++) pushLine('-', a[at]!)
      for (let added = bStart; added < bEnd && characters < MAX_CHARACTERS; added++) pushLine('+', b[added]!)
      at = aEnd
    }
    for (; at < end; at++) pushLine(' ', a[at]!)
    if (characters < MAX_CHARACTERS) continue
    push('… this is not all of it: the rest is too long to be shown')
    break
  }
  return rows.join('\n')
}

/** Differences so near to each other that their contexts touch. */
function grouped(all: readonly Difference[]): Difference[][] {
  const groups: Difference[][] = []
  for (const each of all) {
    const last = groups.at(-1)?.at(-1)
    if (last && each.aStart - last.aEnd <= 2 * CONTEXT_LINES) groups.at(-1)!.push(each)
    else groups.push([each])
  }
  return groups
}

function span(start: number, end: number): string {
  const length = end - start
  // An empty range is named by the line before it.
  return length === 1 ? `${start + 1}` : `${length === 0 ? start : start + 1},${length}`
}

/** With their endings. */
function shownLines(content: Uint8Array | undefined): string[] {
  if (!content || content.length === 0) return []
  return shownText(content).match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function shownText(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return escapedText(content)
  }
}

/** Line by line: one that is not UTF-8 does not make the others hard to read. */
function escapedText(content: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  for (let start = 0; start < content.length; ) {
    const found = content.indexOf(0x0a, start)
    const line = content.subarray(start, found === -1 ? content.length : found + 1)
    try {
      text += decoder.decode(line)
    } catch {
      for (const byte of line) text += byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`
    }
    start += line.length
  }
  return text
}
