import { lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { displayPath, joinName, type NativePath, nativePath, splitName } from './native-path.ts'

/** File systems whose files are somewhere else, or behind a program: any call may wait for ever. */
const SLOW_TYPES = /^(nfs|cifs|smb|9p|ceph|afs|coda|lustre|beegfs|gpfs|glusterfs|ncpfs|autofs|fuse)/
const MAX_LINKS = 40
/** How old our knowledge may be. A mount does not die the moment it is made. */
const FRESH_MS = 1000

/** Whether a path leads to a file system that may stop answering. */
export type IsSlow = (path: NativePath) => boolean

/** Knows which paths are on file systems that may stop answering, without ever asking one of those. */
export class MountTable {
  readonly #read: () => string
  #mounts = new Set<string>()
  #readAt = Number.NEGATIVE_INFINITY

  constructor(read = readMounts) {
    this.#read = read
  }

  /** The mount point of the slow file system that the path leads to; undefined if it leads to none. */
  slowMountOf(path: NativePath): string | undefined {
    this.#refresh()
    return this.#mounts.size === 0 ? undefined : this.#find(path, MAX_LINKS)
  }

  /** One of the slow file systems that are mounted somewhere below a path. */
  slowMountBelow(path: NativePath): string | undefined {
    this.#refresh()
    if (this.#mounts.size === 0) return undefined
    const above = `${withoutLinks(path)}/`.replace(/\/+$/, '/')
    return [...this.#mounts].find((mount) => mount.startsWith(above))
  }

  /** Follows the path as the system would, but stops in front of a slow mount instead of looking into it. */
  #find(path: NativePath, links: number): string | undefined {
    let reached: NativePath = '/'
    const names = segments(path)
    for (const [index, name] of names.entries()) {
      const next = joinName(reached, name)
      if (typeof next === 'string' && this.#mounts.has(next)) return next
      const link = linkAt(next)
      if (link !== undefined) {
        if (links === 0) return undefined // The system will refuse it, too.
        const isAbsolute = link[0] === '/' || link[0] === 0x2f
        const target = isAbsolute ? link : joinName(reached, link)
        const rest = names.slice(index + 1).reduce((left, right) => joinName(left, right), target)
        return this.#find(rest, links - 1)
      }
      reached = name === '..' ? splitName(reached).directory : name === '.' ? reached : next
    }
    return undefined
  }

  #refresh(): void {
    const now = performance.now()
    if (now - this.#readAt < FRESH_MS) return
    this.#readAt = now
    this.#mounts = new Set(parseMounts(this.#read()))
  }
}

/** Lines are: id parent device root MOUNT-POINT options … - TYPE source options. */
function parseMounts(text: string): string[] {
  const mounts: string[] = []
  for (const line of text.split('\n')) {
    const [front = '', back = ''] = line.split(' - ')
    const point = front.split(' ')[4]
    // If the root does not answer, nothing does.
    if (point === undefined || point === '/' || !SLOW_TYPES.test(back)) continue
    const bytes = point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    mounts.push(Buffer.from(bytes, 'latin1').toString())
  }
  return mounts
}

function readMounts(): string {
  return process.platform === 'linux' ? readFileSync('/proc/self/mountinfo', 'latin1') : ''
}

function segments(path: NativePath): NativePath[] {
  if (typeof path === 'string') return path.split('/').filter((name) => name !== '')
  return path
    .toString('latin1')
    .split('/')
    .filter((name) => name !== '')
    .map((name) => nativePath(Buffer.from(name, 'latin1')))
}

/** To be asked only of paths that lead to no slow mount. */
function withoutLinks(path: NativePath): string {
  try {
    return realpathSync.native(path)
  } catch {
    return displayPath(path) // Whoever opens it will find out why.
  }
}

function linkAt(path: NativePath): NativePath | undefined {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined
    return nativePath(readlinkSync(path, { encoding: 'buffer' }))
  } catch {
    return undefined // Whoever opens the path will find out why.
  }
}
