import { conventionOf, fromPosixPath, type PathUri, parent } from '@waldo/protocol'

const ROOT = fromPosixPath('/')

/**
 * Whether a path is carried as a whole, because no URI spells it (`/C:/x` on POSIX). What is put behind it would be
 * read as a part of its encoding, and name something else.
 */
export function isOpaque(path: PathUri): boolean {
  return conventionOf(path) === 'posix' && path !== ROOT && parent(path) === undefined
}

/** Both as the system spells them. */
export function isWithin(directory: PathUri, path: PathUri): boolean {
  return path === directory || path.startsWith(`${withoutSlash(directory)}/`)
}

/** The path that is to `to` as `path` is to `from`. By spelling, so that no name is lost. */
export function moved(path: PathUri, from: PathUri, to: PathUri): PathUri {
  if (path === from) return to
  return `${withoutSlash(to)}${path.slice(withoutSlash(from).length)}` as PathUri
}

function withoutSlash(path: PathUri): string {
  return path.replace(/\/$/, '')
}
