import type { ByteString } from '../byte-string.ts'
import { invalid } from '../files/file-error.ts'

/** Enough for the longest path that the system takes. */
const MAX_CURSOR_LENGTH = 8192

/** Where a search stopped: the last result was this path, or this line in it. */
export interface SearchPosition {
  /** From the root; empty if the root is a file. */
  readonly path: ByteString
  /** From 1; 0 if the result was the path itself. */
  readonly line: number
}

/** A position as a text that means nothing to the client. It names a place, so it stays good when files change. */
export function encodeCursor({ path, line }: SearchPosition): string {
  return Buffer.from(`${line}:${path}`, 'latin1').toString('base64url')
}

export function decodeCursor(cursor: string): SearchPosition {
  const bytes = Buffer.from(cursor.slice(0, MAX_CURSOR_LENGTH), 'base64url')
  const [, line, path] = bytes.toString('latin1').match(/^(0|[1-9]\d{0,8}):([^\0]*)$/) ?? []
  const names = path ? path.split('/') : []
  const bad = names.some((name) => name === '' || name === '.' || name === '..')
  // Encoded anew it must be the same: base64 that decodes is not always base64 that was encoded.
  if (line === undefined || path === undefined || bad || encodeCursor({ path, line: Number(line) }) !== cursor) {
    throw invalid('this cursor is not one that a search returned: start again without one')
  }
  return { path, line: Number(line) }
}
