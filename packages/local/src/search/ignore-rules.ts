import { parseGlob } from './glob-syntax.ts'
import { PathPattern, type Positions } from './path-pattern.ts'

/** A longer pattern matches no path that the system could open, unless it is made of stars. */
const MAX_PATTERN_LENGTH = 4096

/** A line of a `.gitignore`, and how it stands in one directory of the walk. */
export interface IgnoreRule {
  readonly pattern: PathPattern
  /** Begins with `!`: what it matches is not ignored after all. */
  readonly negated: boolean
  readonly directoriesOnly: boolean
  readonly at: Positions
}

/**
 * The rules of an ignore file, read as git reads them: byte by byte, and lower case is not upper case. In one thing we
 * follow its manual and not its code: in a pattern like `/a**`, two stars are no more than one.
 */
export function parseIgnoreFile(bytes: Buffer): IgnoreRule[] {
  const text = bytes.toString('latin1')
  const rules: IgnoreRule[] = []
  for (const line of text.replace(/^\u00ef\u00bb\u00bf/, '').split('\n')) {
    const rule = line.startsWith('#') ? undefined : parseRule(withoutTrailingSpaces(line.replace(/\r$/, '')))
    if (rule) rules.push(rule)
  }
  return rules
}

function parseRule(line: string): IgnoreRule | undefined {
  const negated = line.startsWith('!')
  const directoriesOnly = line.endsWith('/')
  const path = line.slice(negated ? 1 : 0, directoriesOnly ? -1 : undefined)
  if (path.length === 0 || path.length > MAX_PATTERN_LENGTH) return undefined
  const anywhere = !path.includes('/')
  const segments = parseGlob(path.startsWith('/') ? path.slice(1) : path)
  // A pattern that is not closed, and one with an empty name, match nothing.
  if (!segments || segments.some((segment) => segment.length === 0)) return undefined
  const pattern = anywhere ? PathPattern.anywhere(segments.flat(), true) : new PathPattern(segments, true)
  return { pattern, negated, directoriesOnly, at: pattern.start }
}

/** A space that ends a line counts only behind a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = 0
  for (let at = 0; at < line.length; at++) {
    if (line[at] === ' ') continue
    if (line[at] === '\\') at++
    end = at + 1
  }
  return line.slice(0, end)
}
