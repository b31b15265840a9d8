type Errno = 'EROFS' | 'EACCES' | 'EPERM'

/** A line in which a program says why the system refused it something. */
export interface ErrorLine {
  readonly errno: Errno
  /** What stands before and after the reason, as far as anybody would read. */
  readonly before: string
  readonly after: string
}

/** As the C library writes them, in whatever case programs make of that. */
const TEXTS = /read-only file system|permission denied|operation not permitted/gi
const NAMES = /\b(?:EROFS|EACCES|EPERM)\b/g
const ERRNO: Readonly<Record<string, Errno>> = {
  'read-only file system': 'EROFS',
  'permission denied': 'EACCES',
  'operation not permitted': 'EPERM',
}
/** Longer lines are data. */
const MAX_CONTEXT = 512

/** The last reason counts: what comes before it is what the programs in between made of it. */
export function errorLine(line: string): ErrorLine | undefined {
  const last = [...line.matchAll(TEXTS)].at(-1) ?? [...line.matchAll(NAMES)].at(-1)
  if (!last) return undefined
  const end = last.index + last[0].length
  return {
    errno: ERRNO[last[0].toLowerCase()] ?? (last[0] as Errno),
    before: line.slice(Math.max(0, last.index - MAX_CONTEXT), last.index),
    after: line.slice(end, end + MAX_CONTEXT),
  }
}

const WRITING =
  /\b(?:append|chang|chmod|chown|copyfile|creat|delet|install|link|lock|mkdir|mknod|mkstemp|mov|output|remov|renam|rmdir|sav|set|symlink|touch|truncat|unlink|updat|utime|writ)(?:e|es|ed|ing)?\b/i

/** Whether the words around the reason speak of changing something. */
export function speaksOfWriting({ before, after }: ErrorLine): boolean {
  return WRITING.test(withoutPaths(before)) || WRITING.test(withoutPaths(after))
}

function withoutPaths(text: string): string {
  return text
    .split(/\s+/)
    .filter((word) => !/[/.]/.test(word))
    .join(' ')
}
