import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import type { HostFacts, ResolvedPath } from '../policy/host-facts.ts'
import { child, normalize, parentOf } from '../policy/posix-path.ts'

/** What a dynamically linked program, and whoever looks up a user or a certificate, has to read. */
const PLATFORM_DIRECTORIES = [
  '/bin',
  '/sbin',
  '/usr',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/nix/store',
  '/run/current-system/sw',
]
const MAX_LINKS = 40
/** A `.git` file holds one short line. */
const MAX_POINTER_BYTES = 4096

/** Whether something is only there to be mounted on, and counts as missing. */
export type IsSynthetic = (path: string) => boolean

/** The facts of this machine, as they are when they are first asked for. To be made anew for each profile. */
export class ThisHost implements HostFacts {
  readonly platformDirectories = PLATFORM_DIRECTORIES
  readonly temporaryDirectory = process.env.TMPDIR || undefined
  readonly #isSynthetic: IsSynthetic
  readonly #seen = new Map<string, Stats | undefined>()

  constructor(isSynthetic: IsSynthetic = () => false) {
    this.#isSynthetic = isSynthetic
  }

  /** Whether everything that was looked at is still what it was. A link that leads elsewhere is another link. */
  get isCurrent(): boolean {
    for (const [path, before] of this.#seen) {
      const now = this.#lookAgain(path)
      if (now?.ino !== before?.ino || now?.dev !== before?.dev) return false
    }
    return true
  }

  /** What is there, if it is no link. */
  kindOf(path: string): 'directory' | 'file' | undefined {
    const stats = this.#look(path)
    return stats && (stats.isDirectory() ? 'directory' : 'file')
  }

  resolve(path: string): ResolvedPath {
    const links: string[] = []
    // What is left to walk, next name last.
    const names = split(path)
    let at = '/'
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '..') {
        at = parentOf(at)
        continue
      }
      const next = child(at, name)
      const stats = this.#look(next)
      if (stats?.isSymbolicLink()) {
        // The system will not follow them either.
        if (links.length === MAX_LINKS) return { path: normalize(path)!, exists: false, isDirectory: false, links }
        links.push(next)
        const target = readlinkSync(next)
        if (target.startsWith('/')) at = '/'
        names.push(...split(target))
      } else if (stats) at = next
      else {
        // Nothing is below what is not there.
        const rest = normalize([next, ...names.reverse()].join('/'))!
        return { path: rest, exists: false, isDirectory: false, links }
      }
    }
    const stats = this.#look(at)
    return { path: at, exists: stats !== undefined, isDirectory: stats?.isDirectory() ?? false, links }
  }

  gitDirectories(pointer: string): readonly string[] {
    if (!this.#look(pointer)?.isFile()) return []
    const [, target] = /^gitdir: (.+)$/m.exec(readShort(pointer)) ?? []
    const directory = target && normalize(target.startsWith('/') ? target : `${parentOf(pointer)}/${target}`)
    if (!directory || !this.resolve(directory).isDirectory) return []
    // A worktree has its own directory; the hooks and the configuration are in the one that it was made from.
    const common = readShort(child(directory, 'commondir')).trim()
    const shared = common && normalize(common.startsWith('/') ? common : `${directory}/${common}`)
    return shared && this.resolve(shared).isDirectory ? [directory, shared] : [directory]
  }

  #look(path: string): Stats | undefined {
    if (this.#seen.has(path)) return this.#seen.get(path)
    const stats = this.#lookAgain(path)
    this.#seen.set(path, stats)
    return stats
  }

  #lookAgain(path: string): Stats | undefined {
    return this.#isSynthetic(path) ? undefined : lookAt(path)
  }
}

/** The last name first. */
function split(path: string): string[] {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse()
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // What we may not look at, nobody in the sandbox will see either: it has no more rights than we.
  }
}

function readShort(path: string): string {
  try {
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    return size > MAX_POINTER_BYTES ? '' : readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
