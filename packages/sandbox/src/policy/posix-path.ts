/** Paths here are absolute, without `.`, `..`, empty names or a slash at the end; the root is `/`. */

/** How many names a path has below the root. */
export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}

/** Whether `path` is `outer`, or lies below it. */
export function isWithin(outer: string, path: string): boolean {
  return outer === '/' || path === outer || path.startsWith(`${outer}/`)
}

export function isBelow(outer: string, path: string): boolean {
  return path !== outer && isWithin(outer, path)
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function child(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

/** The directories strictly between the two, nearest to `outer` first. */
export function between(outer: string, path: string): string[] {
  const directories: string[] = []
  for (let at = parentOf(path); isBelow(outer, at); at = parentOf(at)) directories.unshift(at)
  return directories
}

/** The first name on the way from `outer` to a path below it. */
export function firstNameBelow(outer: string, path: string): string {
  const rest = path.slice(outer === '/' ? 1 : outer.length + 1)
  const slash = rest.indexOf('/')
  return slash < 0 ? rest : rest.slice(0, slash)
}

/** Resolves `.` and `..` by the text alone. Undefined if it is not absolute. */
export function normalize(path: string): string | undefined {
  if (!path.startsWith('/')) return undefined
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..') names.pop()
    else names.push(name)
  }
  return `/${names.join('/')}`
}
