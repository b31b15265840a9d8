import { invalid } from '../files/file-error.ts'

/** How many patterns the braces of one glob may stand for. */
const MAX_ALTERNATIVES = 256

/** `a.{ts,js}` as `a.ts` and `a.js`. Braces nest; without a comma, without an end or after a `\` they are characters. */
export function expandBraces(glob: string): string[] {
  const done: string[] = []
  const open = [glob]
  while (open.length > 0) {
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw invalid(`the braces of a glob stand for more than ${MAX_ALTERNATIVES} patterns: ${glob}`)
    }
    const next = open.pop()!
    const group = firstGroup(next)
    if (!group) done.push(next)
    // Reversed, because the last is taken first.
    else for (const part of group.parts.reverse()) open.push(group.before + part + group.after)
  }
  return done
}

function firstGroup(glob: string): { before: string; parts: string[]; after: string } | undefined {
  const opened: { start: number; commas: number[] }[] = []
  let found: { start: number; commas: number[]; end: number } | undefined
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]
    if (character === '\\') at++
    else if (character === '{') opened.push({ start: at, commas: [] })
    else if (character === ',') opened.at(-1)?.commas.push(at)
    else if (character === '}') {
      const group = opened.pop()
      // An outer group ends later and begins earlier: it replaces those in it.
      if (group && group.commas.length > 0 && (!found || group.start < found.start)) found = { ...group, end: at }
    }
  }
  if (!found) return undefined
  const cuts = [found.start, ...found.commas, found.end]
  return {
    before: glob.slice(0, found.start),
    parts: cuts.slice(1).map((cut, index) => glob.slice(cuts[index]! + 1, cut)),
    after: glob.slice(found.end + 1),
  }
}
