import { readlinkSync } from 'node:fs'
import { type ByteString, joinBytes } from '../byte-string.ts'
import { pathBytes } from './byte-path.ts'
import { IN, type InodeWatch, watchInode } from './inotify.ts'

const ENTRY_CHANGES = IN.CREATE | IN.DELETE | IN.MOVED_FROM | IN.MOVED_TO | IN.ATTRIB
/** As many as the system follows. */
const MAX_LINKS = 40
/** How often to look where nothing tells us: a directory that we may not list, no more watches, no inotify. */
const POLL_MS = 1000

/**
 * Tells when something may have changed about where a path leads: its own entry, that of a directory above it, or that
 * of a link on the way. It watches each directory that is passed, for the one name that is looked up in it.
 */
export class PathTrail {
  readonly #path: ByteString
  readonly #onChange: () => void
  #watches: InodeWatch[] = []
  #poll: ReturnType<typeof setTimeout> | undefined
  #told = false
  #closed = false

  /** When it returns, everything is watched: what the caller sees from now on, it will hear the end of. */
  constructor(path: ByteString, onChange: () => void) {
    this.#path = path
    this.#onChange = onChange
    this.#retrace()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#poll)
    for (const watch of this.#watches.splice(0)) watch.close()
  }

  #retrace(): void {
    // Closed only after the new ones are placed: most of them are the same.
    const former = this.#watches
    this.#watches = []
    clearTimeout(this.#poll)
    const names = this.#path.split('/')
    let directory: ByteString = '/'
    let links = 0
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (name === '' || name === '.') continue
      if (name === '..') {
        // Links are resolved as we go, so that this is the directory above.
        directory = directory.slice(0, directory.lastIndexOf('/')) || '/'
        continue
      }
      // First the watch, then the look: a change in between is told, not missed.
      this.#watch(directory, name)
      const target = look(joinBytes(directory, name))
      if (target === 'missing' || (typeof target === 'object' && ++links > MAX_LINKS)) break
      if (target === 'no link') {
        directory = joinBytes(directory, name)
        continue
      }
      if (target.link.startsWith('/')) directory = '/'
      names.unshift(...target.link.split('/'))
    }
    for (const watch of former) watch.close()
  }

  #watch(directory: ByteString, name: ByteString): void {
    const onEvent = (mask: number, changed: ByteString) => {
      if (changed === name || mask & (IN.Q_OVERFLOW | IN.IGNORED | IN.UNMOUNT)) this.#somethingHappened()
    }
    try {
      if (!watchInode) throw Object.assign(new Error('there is no inotify here'), { code: 'ENOSYS' })
      this.#watches.push(watchInode(directory, ENTRY_CHANGES | IN.ONLYDIR, { onEvent }))
    } catch (error) {
      // If it is not there, or no directory, then that was decided by an entry that is watched already.
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return
      clearTimeout(this.#poll)
      this.#poll = setTimeout(() => this.#somethingHappened(), POLL_MS)
      this.#poll.unref()
    }
  }

  /** Once for all events that arrived together. */
  #somethingHappened(): void {
    if (this.#told) return
    this.#told = true
    queueMicrotask(() => {
      this.#told = false
      if (this.#closed) return
      this.#retrace()
      this.#onChange()
    })
  }
}

function look(path: ByteString): { link: ByteString } | 'no link' | 'missing' {
  try {
    return { link: readlinkSync(pathBytes(path), 'latin1') }
  } catch (error) {
    // Whatever else it is that prevents us from seeing it, there is no way past it.
    return (error as NodeJS.ErrnoException).code === 'EINVAL' ? 'no link' : 'missing'
  }
}
