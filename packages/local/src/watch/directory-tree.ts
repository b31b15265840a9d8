import { lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { type ByteString, joinBytes } from '../byte-string.ts'
import { pathBytes } from './byte-path.ts'
import type { ChangeJournal } from './change-journal.ts'
import { IN, type InodeOwner, type InodeWatch, watchInode } from './inotify.ts'
import { PathTrail } from './path-trail.ts'
import { type Scan, ScanQueue } from './scan-queue.ts'

const APPEARED = IN.CREATE | IN.MOVED_TO
const VANISHED = IN.DELETE | IN.MOVED_FROM
/** Includes the closing of what was open for writing, because writes to mapped memory are not told. */
const CHANGES = APPEARED | VANISHED | IN.MODIFY | IN.ATTRIB | IN.CLOSE_WRITE | IN.EXCL_UNLINK
/** Others get a turn after so many. */
const ENTRIES_PER_TURN = 500
const REPORT: Scan = { report: true, verify: false }
const VERIFY: Scan = { report: false, verify: true }
/** What comes of looking at a place that changes: nothing is there, or nothing that we, and those we tell, may see. */
const NOTHING_TO_SEE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'])

/** A directory that is watched; as the root, perhaps a file. */
class Watched implements InodeOwner {
  readonly #tree: DirectoryTree
  readonly #parent: Watched | undefined
  readonly #name: ByteString
  readonly children = new Map<ByteString, Watched>()
  watch: InodeWatch | undefined
  isDirectory = true

  /** `name`: the whole path, if it has no parent. */
  constructor(tree: DirectoryTree, parent: Watched | undefined, name: ByteString) {
    this.#tree = tree
    this.#parent = parent
    this.#name = name
  }

  get path(): ByteString {
    return this.#parent ? joinBytes(this.#parent.path, this.#name) : this.#name
  }

  onEvent(mask: number, name: ByteString): void {
    this.#tree.onEvent(this, mask, name)
  }
}

/**
 * Tells a journal what happens to a directory and everything in it, or to a file. Each directory is watched by its
 * path, which at that moment may already lead to another one than the event was about. That does not last: whatever
 * took its place has caused events of its own, and each of them makes us look again.
 */
export class DirectoryTree {
  readonly #path: ByteString
  readonly #recursive: boolean
  readonly #journal: ChangeJournal
  readonly #trail: PathTrail
  readonly #scans = new ScanQueue<Watched>((directory, scan) => this.#scan(directory, scan))
  #root: Watched | undefined
  #losses = 0
  #blind = false
  #closed = false

  /** Throws what the system says if there is nothing to watch. */
  constructor(path: ByteString, recursive: boolean, journal: ChangeJournal) {
    this.#path = path
    this.#recursive = recursive
    this.#journal = journal
    this.#trail = new PathTrail(path, () => this.#checkRoot())
    try {
      this.#root = this.#watchRoot()
    } catch (error) {
      this.#trail.close()
      throw error
    }
    this.#verify()
  }

  /** Resolves when everything is watched that was there at first. */
  get ready(): Promise<void> {
    return this.#scans.verified
  }

  /** Whether there is something that it does not see: too many directories, or it is still catching up after a loss. */
  get incomplete(): boolean {
    return this.#blind || this.#losses > 0
  }

  close(): void {
    this.#closed = true
    this.#trail.close()
    this.#drop(this.#root)
  }

  onEvent(directory: Watched, mask: number, name: ByteString): void {
    // It was dropped while the event was being told to others.
    if (!directory.watch) return
    if (mask & (IN.Q_OVERFLOW | IN.UNMOUNT)) {
      // All were told of the same overflow.
      if (directory === this.#root || mask & IN.UNMOUNT) this.#lost()
    } else if (name === '') {
      // What happens to a directory is told by the one it is in, except for the root.
      if (directory !== this.#root) return
      if (mask & IN.IGNORED) this.#checkRoot()
      else this.#journal.add(this.#path, 'modified', directory.isDirectory)
    } else {
      this.#entryChanged(directory, mask, name)
    }
  }

  #entryChanged(directory: Watched, mask: number, name: ByteString): void {
    const path = joinBytes(directory.path, name)
    const isDirectory = (mask & IN.ISDIR) !== 0
    const child = directory.children.get(name)
    if (mask & VANISHED) {
      this.#drop(child)
      directory.children.delete(name)
      this.#journal.add(path, 'removed', isDirectory)
      return
    }
    this.#journal.add(path, mask & APPEARED ? 'created' : 'modified', isDirectory)
    // One that is only modified may have become readable.
    if (isDirectory && (mask & APPEARED || !child)) this.#attach(directory, name, REPORT)
  }

  /** Watches a directory that is said to be there, and everything in it. If it was watched, then what is there now. */
  #attach(parent: Watched, name: ByteString, scan: Scan): void {
    if (!this.#recursive) return
    const known = parent.children.get(name)
    const directory = known ?? new Watched(this, parent, name)
    let watch: InodeWatch
    try {
      watch = watchInode!(directory.path, CHANGES | IN.ONLYDIR | IN.DONT_FOLLOW, directory)
    } catch (error) {
      this.#drop(known)
      parent.children.delete(name)
      this.#cannotSee(error)
      return
    }
    if (known?.watch?.same(watch)) {
      watch.close()
    } else {
      this.#drop(known)
      directory.watch = watch
      parent.children.set(name, directory)
    }
    this.#scans.add(directory, scan)
  }

  async #scan(directory: Watched, scan: Scan): Promise<void> {
    const path = directory.path
    const entries = await readdir(pathBytes(path), { withFileTypes: true, encoding: 'latin1' }).catch((error) => {
      this.#cannotSee(error)
      return []
    })
    // Those that are gone, or have been replaced, may have left without a word.
    const known = scan.verify ? [...directory.children.keys()] : []
    for (const [index, name] of known.entries()) {
      if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await setImmediate()
      if (!directory.watch) return
      if (directory.children.has(name)) this.#attach(directory, name, scan)
    }
    for (const [index, entry] of entries.entries()) {
      if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await setImmediate()
      if (!directory.watch) return
      // Some file systems do not say what it is. Trying to watch it tells.
      const perhapsDirectory = !entry.isFile() && !entry.isSymbolicLink()
      // If it is there now, then we hear of its end after this. If it is not, we have heard already.
      if (scan.report && exists(joinBytes(path, entry.name))) {
        this.#journal.add(joinBytes(path, entry.name), 'created', perhapsDirectory)
      }
      // One that is watched already was found through an event, or just now, and is being scanned.
      if (perhapsDirectory && !directory.children.has(entry.name)) this.#attach(directory, entry.name, scan)
    }
  }

  /** The root may be another one now, or gone, or back. */
  #checkRoot(): void {
    let found: Watched | undefined
    let failure: unknown
    try {
      found = this.#watchRoot()
    } catch (error) {
      failure = error
    }
    const former = this.#root
    if (found?.watch && former?.watch?.same(found.watch)) {
      this.#drop(found)
      return
    }
    this.#root = found
    this.#drop(former)
    if (former) this.#journal.add(this.#path, 'removed', former.isDirectory)
    // Whatever it was that we did not see, it was in there.
    this.#blind = false
    if (failure) this.#cannotSee(failure)
    if (!found) return
    this.#journal.add(this.#path, 'created', found.isDirectory)
    if (found.isDirectory) this.#scans.add(found, REPORT)
  }

  /** A link is followed here, and here only: the caller has named it. */
  #watchRoot(): Watched {
    const root = new Watched(this, undefined, this.#path)
    try {
      root.watch = watchInode!(this.#path, CHANGES | IN.ONLYDIR, root)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
      root.watch = watchInode!(this.#path, CHANGES, root)
      root.isDirectory = false
    }
    return root
  }

  /** Looks for directories that are not watched, or no longer those that were. */
  #verify(): void {
    if (this.#root?.isDirectory && this.#recursive) this.#scans.add(this.#root, VERIFY)
  }

  #lost(): void {
    if (this.#losses++ > 0) return
    this.#journal.overflow()
    void this.#recover()
  }

  async #recover(): Promise<void> {
    while (this.#losses > 0) {
      const losses = this.#losses
      this.#blind = false
      this.#verify()
      await this.#scans.verified
      this.#losses -= losses
    }
    // Again, because until now there may have been directories that nobody watched.
    if (!this.#closed) this.#journal.overflow()
  }

  #cannotSee(error: unknown): void {
    if (this.#closed || this.#blind || NOTHING_TO_SEE.has((error as NodeJS.ErrnoException).code ?? '')) return
    this.#blind = true
    this.#journal.overflow()
  }

  #drop(directory: Watched | undefined): void {
    if (!directory) return
    this.#scans.delete(directory)
    directory.watch?.close()
    directory.watch = undefined
    for (const child of directory.children.values()) this.#drop(child)
    directory.children.clear()
  }
}

function exists(path: ByteString): boolean {
  try {
    return lstatSync(pathBytes(path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // The way there is no longer one of directories. An event will tell.
    return false
  }
}
