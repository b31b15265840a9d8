import type { ErrorLine } from './error-line.ts'

const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '‘': '’', '“': '”' }
const MAX_IN_GROUP = 4
const LETTER = /[\p{L}\p{N}]/u
/** What stands between a name and the reason. */
const PUNCTUATION = new Set(' \t:,([{"\'`‘“')

/**
 * The paths that a line may be about: in quotes, or between colons as in `tee: /a/b: Read-only file system`. Groups
 * come best guess first; all of one group are equally good.
 */
export function candidatePaths({ errno, before, after }: ErrorLine): (readonly string[])[] {
  const isAbsolute = (path: string) => path.startsWith('/')
  const quoted = [...quotedIn(before), ...quotedIn(after)]
  const between = betweenColons(before)
  const groups = [
    quoted.filter(isAbsolute),
    between.filter(isAbsolute),
    quoted.filter((path) => !isAbsolute(path)),
    // `ptrace(PTRACE_TRACEME, ...): Operation not permitted` is as usual as names are.
    errno === 'EPERM' ? [] : between.filter((path) => !isAbsolute(path)),
    // `Permission denied @ rb_sysopen - /a/b`, but not the script that it happened in.
    absoluteIn(after.replace(/\bat .*/, '')),
  ]
  return groups.map((group) => group.filter(isPath).slice(0, MAX_IN_GROUP)).filter((group) => group.length > 0)
}

function isPath(text: string): boolean {
  return text !== '' && !text.includes('://') && !/\p{Cc}/u.test(text)
}

function quotedIn(text: string): string[] {
  const found: string[] = []
  for (let i = 0; i < text.length; i++) {
    const closing = CLOSING[text[i]!]
    if (closing === undefined || isApostrophe(text, i)) continue
    let end = text.indexOf(closing, i + 1)
    while (end >= 0 && LETTER.test(text[end + 1] ?? '')) end = text.indexOf(closing, end + 1)
    if (end < 0) continue
    const content = text.slice(i + 1, end)
    // Between backticks there is as often code as there are names.
    if (text[i] !== '`' || content.includes('/')) found.push(content)
    i = end
  }
  return found
}

/** As in `couldn't`; the `b` of Python's byte strings is no word. */
function isApostrophe(text: string, at: number): boolean {
  const isByteString = text[at - 1] === 'b' && !LETTER.test(text[at - 2] ?? '')
  return LETTER.test(text[at - 1] ?? '') && !isByteString
}

/** Ends of messages that tell what was tried, or that something failed, but not with what. */
const DEED =
  /(?:^|\s)(?:cause|code|connect|create|directory|err|error|exception|failed|failure|fatal|file|kind|link|message|mkdir|open|output|panic|read|reason|rename|socket|stat|stream|target|unlink|value|warning|write|\d+)$/i

function betweenColons(before: string): string[] {
  const segments = trimPunctuation(before).split(': ')
  const isAlone = segments.length === 1
  while (segments.length > 0) {
    const segment = withoutAfterthought(segments.pop()!).trim()
    const absolute = absoluteIn(segment)
    if (absolute.length > 0) return absolute
    if (DEED.test(segment) || /['"`’”]$/.test(segment)) continue
    // The first one is the program that speaks, unless it is all there is.
    if (segments.length > 0 || isAlone) return [segment.slice(segment.lastIndexOf(' ') + 1)]
  }
  return []
}

/** With spaces in it, unless another path follows. */
function absoluteIn(text: string): string[] {
  const [, found] = /(?:^|[\s(=])(\/.*)$/.exec(text) ?? []
  if (found === undefined) return []
  const words = found.split(' ').filter((word) => word.startsWith('/'))
  return words.length > 1 ? words : [withoutAfterthought(found).trimEnd()]
}

/** `/a/b for writing`, `/a/b (30`, `/a/b - open`, `f(/a/b)`. */
function withoutAfterthought(text: string): string {
  return text.replace(/(?: for (?:reading|writing|appending|input|output)\b| \(| - |\)$).*$/, '')
}

function trimPunctuation(text: string): string {
  let end = text.length
  while (end > 0 && PUNCTUATION.has(text[end - 1]!)) end--
  return text.slice(0, end)
}
