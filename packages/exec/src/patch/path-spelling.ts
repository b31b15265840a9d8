import type { PathUri } from '@waldo/protocol'

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
