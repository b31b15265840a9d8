import { type FSWatcher, lstatSync, watch } from 'node:fs'
import { type ByteString, joinBytes } from '../byte-string.ts'
import { pathBytes } from './byte-path.ts'
import type { ChangeJournal } from './change-journal.ts'

/** What `DirectoryTree` does, for systems without inotify, as well as `node:fs` can. Untested there. */
export class FallbackTree {
  readonly ready = Promise.resolve()
  readonly #watcher: FSWatcher
  #incomplete = false

  constructor(path: ByteString, recursive: boolean, journal: ChangeJournal) {
    this.#watcher = watch(pathBytes(path), { recursive, encoding: 'buffer' }, (event, name) => {
      if (name === null) return journal.overflow()
      const changed = joinBytes(path, name.toString('latin1'))
      const found = lstatSync(pathBytes(changed), { throwIfNoEntry: false })
      if (!found) journal.add(changed, 'removed', true)
      else journal.add(changed, event === 'rename' ? 'created' : 'modified', found.isDirectory())
    })
    // It does not go on after that. A reader who wants to must open another watch.
    this.#watcher.on('error', () => {
      this.#incomplete = true
      journal.overflow()
    })
  }

  get incomplete(): boolean {
    return this.#incomplete
  }

  close(): void {
    this.#watcher.close()
  }
}
