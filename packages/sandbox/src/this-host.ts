import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs'
import type { HostFacts, ResolvedPath } from './policy/host-facts.ts'
import { PolicyError } from './policy/policy-error.ts'
import { child, normalize, parentOf } from './policy/posix-path.ts'

/** What is not the same on every system. */
export interface HostSystem {
  /** What a dynamically linked program, and whoever looks up a user or a certificate, has to read. */
  readonly platformDirectories: readonly string[]
  /** A path that exists, and has no links in it, as the system itself spells it. */
  spell(path: string): string
}

const LINUX: HostSystem = {
  platformDirectories: [
    '/bin',
    '/sbin',
    '/usr',
    '/etc',
    '/lib',
    '/lib32',
    '/lib64',
    '/nix/store',
    '/run/current-system/sw',
  ],
  spell: (path) => path,
}
const MAX_LINKS = 40
/** A `.git` file holds one short line. */
const MAX_POINTER_BYTES = 4096

/** Whether something is only there to be mounted on, and counts as missing. */
export type IsSynthetic = (path: string) => boolean

/** The facts of this machine, as they are when they are first asked for. To be made anew for each profile. */
export class ThisHost implements HostFacts {
  readonly platformDirectories: readonly string[]
  readonly temporaryDirectory = process.env.TMPDIR || undefined
  readonly #isSynthetic: IsSynthetic
  readonly #system: HostSystem
  readonly #seen = new Map<string, Stats | undefined>()
  /** Where links lead, and what files say that point elsewhere. */
  readonly #targets = new Map<string, string>()
  readonly #pointers = new Map<string, string>()

  constructor(isSynthetic: IsSynthetic = () => false, system: HostSystem = LINUX) {
    this.#isSynthetic = isSynthetic
    this.#system = system
    this.platformDirectories = system.platformDirectories
  }

  /** Whether everything that was looked at is still what it was. */
  get isCurrent(): boolean {
    for (const [path, before] of this.#seen) {
      const now = this.#lookAgain(path)
      // The number of what was removed may have been given to something of another kind.
      if (now?.ino !== before?.ino || now?.dev !== before?.dev || kindOf(now) !== kindOf(before)) return false
    }
    for (const [link, target] of this.#targets) if (readLink(link) !== target) return false
    for (const [path, text] of this.#pointers) if (readShort(path) !== text) return false
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
        const target = this.#targetOf(next)
        if (target.startsWith('/')) at = '/'
        names.push(...split(target))
      } else if (stats) at = next
      else {
        // Nothing is below what is not there.
        const rest = normalize([this.#system.spell(at), name, ...names.reverse()].join('/'))!
        return { path: rest, exists: false, isDirectory: false, links }
      }
    }
    const stats = this.#look(at)
    return {
      path: this.#system.spell(at),
      exists: stats !== undefined,
      isDirectory: stats?.isDirectory() ?? false,
      links,
    }
  }

  gitDirectories(pointer: string): readonly string[] {
    if (!this.#look(pointer)?.isFile()) return []
    const [, target] = /^gitdir: (.+)$/m.exec(this.#read(pointer)) ?? []
    const directory = target && normalize(target.startsWith('/') ? target : `${parentOf(pointer)}/${target}`)
    if (!directory || !this.resolve(directory).isDirectory) return []
    // A worktree has its own directory; the hooks and the configuration are in the one that it was made from.
    const common = this.#read(child(directory, 'commondir')).trim()
    const shared = common && normalize(common.startsWith('/') ? common : `${directory}/${common}`)
    return shared && this.resolve(shared).isDirectory ? [directory, shared] : [directory]
  }

  #look(path: string): Stats | undefined {
    if (this.#seen.has(path)) return this.#seen.get(path)
    const stats = this.#lookAgain(path)
    this.#seen.set(path, stats)
    return stats
  }

  #targetOf(link: string): string {
    const target = this.#targets.get(link) ?? readLink(link)
    if (target === undefined) throw new PolicyError('unenforceable', `${link} is being changed just now; try again`)
    this.#targets.set(link, target)
    return target
  }

  #read(pointer: string): string {
    const text = this.#pointers.get(pointer) ?? readShort(pointer)
    this.#pointers.set(pointer, text)
    return text
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

function kindOf(stats: Stats | undefined): number | undefined {
  return stats && stats.mode & constants.S_IFMT
}

/** Undefined if it is none any more. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Empty if it is no short file. Whoever may write there may have put a pipe in its place, or a link to one. */
function readShort(path: string): string {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (!fstatSync(fd).isFile()) return ''
    const bytes = Buffer.alloc(MAX_POINTER_BYTES + 1)
    const length = readSync(fd, bytes, 0, bytes.length, 0)
    return length > MAX_POINTER_BYTES ? '' : bytes.toString('utf8', 0, length)
  } catch {
    return ''
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
