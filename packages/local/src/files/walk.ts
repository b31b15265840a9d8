import { lstatSync, statSync } from 'node:fs'
import { type FsWalkOptions, fromPosixPath, limits, type PathUri } from '@waldo/protocol'
import { Turns } from '../turns.ts'
import { type EntryKind, readDirectoryEntries } from './directory-reader.ts'
import { describe, errorCode, fileError, invalid } from './file-error.ts'
import type { IsSlow } from './mount-table.ts'
import { joinName, type NativePath } from './native-path.ts'

export interface Walked {
  readonly entries: { path: PathUri; kind: 'file' | 'directory' }[]
  readonly errors: { path: PathUri; message: string }[]
  readonly truncated: boolean
}

interface Level {
  readonly path: NativePath
  readonly depth: number
}

/** What an entry or an error takes on the wire beside its texts. */
const OVERHEAD_BYTES = 64

/** Everything below a directory, breadth first, names sorted by their bytes. Links are not listed. */
export async function walk(root: NativePath, options: FsWalkOptions, isSlow: IsSlow = () => false): Promise<Walked> {
  checkLimits(options)
  return new Walk(options, isSlow).run(root)
}

class Walk {
  readonly #options: FsWalkOptions
  readonly #isSlow: IsSlow
  readonly #entries: Walked['entries'] = []
  readonly #errors: Walked['errors'] = []
  readonly #queue: Level[] = []
  readonly #turns = new Turns()
  /** Directories by device and inode, where links could lead to one twice. */
  readonly #visited = new Set<string>()
  #directories = 1
  #examined = 0
  #bytes = 0
  #truncated = false
  #full = false

  constructor(options: FsWalkOptions, isSlow: IsSlow) {
    this.#options = options
    this.#isSlow = isSlow
  }

  async run(root: NativePath): Promise<Walked> {
    if (this.#isRoot(root)) {
      this.#queue.push({ path: root, depth: 0 })
      for (let next = 0; next < this.#queue.length && !this.#full; next++) await this.#enter(this.#queue[next]!)
    }
    return { entries: this.#entries, errors: this.#errors, truncated: this.#truncated }
  }

  /** A file, or a link that is not to be followed, has nothing below it. */
  #isRoot(root: NativePath): boolean {
    try {
      const own = lstatSync(root)
      if (!own.isSymbolicLink()) return own.isDirectory() && this.#isNew(root)
      return this.#options.followDirectorySymlinks && statSync(root).isDirectory() && this.#isNew(root)
    } catch (error) {
      throw fileError(error, root)
    }
  }

  async #enter({ path, depth }: Level): Promise<void> {
    const found: { name: NativePath; kind: EntryKind }[] = []
    try {
      for (const entries of readDirectoryEntries(path)) {
        found.push(...entries)
        await this.#turns.over()
        // More than can be examined: which ones are first is not worth reading a million names.
        if (found.length > limits.walkEntries) break
      }
    } catch (error) {
      if (depth === 0) throw fileError(error, path)
      this.#fail(path, error)
      return
    }
    found.sort((a, b) => compareNames(a.name, b.name))
    for (const { name, kind } of found) {
      if (this.#examined >= this.#options.maxEntries) this.#stop()
      if (this.#full) return
      this.#examined++
      this.#take(joinName(path, name), name, kind, depth)
      await this.#turns.over()
    }
  }

  #take(path: NativePath, name: NativePath, given: EntryKind, depth: number): void {
    const kind = given === 'symlink' || given === 'unknown' ? this.#resolve(path, given) : given
    if (kind !== 'file' && kind !== 'directory') return
    const uri = fromPosixPath(path)
    if (!this.#charge(uri.length)) {
      this.#stop()
      return
    }
    this.#entries.push({ path: uri, kind })
    if (kind === 'file') return
    const hidden = name[0] === '.' || name[0] === 0x2e
    if (depth >= this.#options.maxDepth || (hidden && this.#options.pruneHiddenDirectories)) return
    if (!this.#isNew(path)) return
    if (this.#directories >= this.#options.maxDirectories) {
      this.#truncated = true
      return
    }
    this.#directories++
    this.#queue.push({ path, depth: depth + 1 })
  }

  /** Links to directories count where they are to be followed; links to files never. */
  #resolve(path: NativePath, given: EntryKind): EntryKind | undefined {
    try {
      if (given === 'unknown') {
        const own = lstatSync(path)
        if (!own.isSymbolicLink()) return own.isDirectory() ? 'directory' : own.isFile() ? 'file' : 'other'
      }
      if (!this.#options.followDirectorySymlinks) return undefined
      if (this.#isSlow(path)) throw new Error('it leads to a network file system: walk it by itself')
      return statSync(path).isDirectory() ? 'directory' : undefined
    } catch (error) {
      // A link that leads nowhere is nothing; so is a file that has just been removed.
      if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error))) this.#fail(path, error)
      return undefined
    }
  }

  /** Where links are followed, several paths lead to one directory: it is entered once. */
  #isNew(directory: NativePath): boolean {
    if (!this.#options.followDirectorySymlinks) return true
    let identity: string
    try {
      const { dev, ino } = statSync(directory)
      identity = `${dev}:${ino}`
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#fail(directory, error)
      return false
    }
    const isNew = !this.#visited.has(identity)
    this.#visited.add(identity)
    return isNew
  }

  #fail(path: NativePath, error: unknown): void {
    const uri = fromPosixPath(path)
    const message = describe(error)
    if (this.#charge(uri.length + message.length)) this.#errors.push({ path: uri, message })
    else this.#stop()
  }

  /** False if the answer would become too large. */
  #charge(bytes: number): boolean {
    this.#bytes += bytes + OVERHEAD_BYTES
    return this.#bytes <= limits.walkAnswerBytes
  }

  #stop(): void {
    this.#truncated = true
    this.#full = true
  }
}

function checkLimits({ maxDepth, maxDirectories, maxEntries }: FsWalkOptions): void {
  if (maxDirectories === 0 || maxEntries === 0) throw invalid('filesystem walk limits must be greater than zero')
  if (maxDepth > limits.walkDepth || maxDirectories > limits.walkDirectories || maxEntries > limits.walkEntries) {
    throw invalid(
      `filesystem walk limits exceed maximums: depth=${limits.walkDepth}, directories=${limits.walkDirectories}, entries=${limits.walkEntries}`,
    )
  }
}

/** By bytes, as everybody else sorts them: text compares by UTF-16 units, which differs above the surrogates. */
function compareNames(a: NativePath, b: NativePath): number {
  if (typeof a === 'string' && typeof b === 'string' && isSimple(a) && isSimple(b)) return a < b ? -1 : a > b ? 1 : 0
  return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))
}

function isSimple(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0xd800) return false
  return true
}
