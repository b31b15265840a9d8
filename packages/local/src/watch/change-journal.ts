import { type ByteString, toNativePath } from '../byte-string.ts'
import type { NativePath } from '../files/native-path.ts'
import { type ChangeKind, MergedChanges, type SeenChange } from './merged-changes.ts'

/**
 * `created` and `modified` say that something is there and worth another look: what replaces a file by a rename is
 * `created` too. `removed` says that it is gone with everything below it, and may speak of something that came and went
 * unseen.
 */
interface Change {
  /** Absolute. */
  path: NativePath
  kind: ChangeKind
}

export interface ChangeBatch {
  /** Where to continue. */
  cursor: number
  /** In an order in which they can be applied: a directory that was replaced is `removed`, then `created`. */
  changes: Change[]
  /** Something may have been missed: look at everything again. */
  overflow: boolean
}

const DEFAULT_COALESCE_MS = 50
const MAX_CHANGES = 10_000
const MAX_PATH_BYTES = 2 * 1024 * 1024

/** What happened, numbered. It is bounded: who comes back for what was forgotten learns that it was. */
export class ChangeJournal {
  readonly #coalesceMs: number
  readonly #listeners = new Set<() => void>()
  readonly #pending = new MergedChanges()
  #timer: ReturnType<typeof setTimeout> | undefined
  #entries: SeenChange[] = []
  #pathBytes = 0
  /** Starts with the time, so that the cursor of an earlier watch is one that this one has never known. */
  #cursor = Date.now() * 1000
  /** Of what happened up to here, not everything is known. Who opens a watch has looked at nothing before. */
  #unknownUpTo = this.#cursor

  constructor(coalesceMs = DEFAULT_COALESCE_MS) {
    this.#coalesceMs = coalesceMs
  }

  get cursor(): number {
    return this.#cursor
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** `isDirectory`: whether more may have vanished with it. */
  add(path: ByteString, kind: ChangeKind, isDirectory: boolean): void {
    this.#pending.add({ path, kind, isDirectory })
    if (this.#pending.size >= MAX_CHANGES) this.#commit()
    this.#tellSoon()
  }

  /** Something happened that nobody knows. */
  overflow(): void {
    this.#entries = []
    this.#pathBytes = 0
    this.#pending.clear()
    this.#unknownUpTo = ++this.#cursor
    this.#tellSoon()
  }

  since(cursor: number): ChangeBatch {
    const known = Number.isSafeInteger(cursor) && cursor >= this.#unknownUpTo && cursor <= this.#cursor
    if (!known) return { cursor: this.#cursor, changes: [], overflow: true }
    const merged = new MergedChanges()
    for (const entry of this.#entries.slice(this.#entries.length - (this.#cursor - cursor))) merged.add(entry)
    const changes = [...merged].map(({ path, kind }) => ({ path: toNativePath(path), kind }))
    return { cursor: this.#cursor, changes, overflow: false }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending.clear()
    this.#listeners.clear()
  }

  /** Never at once: whoever tells us of changes is in the middle of something. */
  #tellSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#commit()
      for (const listener of [...this.#listeners]) listener()
    }, this.#coalesceMs)
  }

  #commit(): void {
    for (const entry of this.#pending) {
      this.#entries.push(entry)
      this.#pathBytes += entry.path.length
      this.#cursor++
    }
    this.#pending.clear()
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    let forgotten = 0
    while (this.#entries.length - forgotten > MAX_CHANGES || this.#pathBytes > MAX_PATH_BYTES) {
      this.#pathBytes -= this.#entries[forgotten++]!.path.length
    }
    if (forgotten === 0) return
    this.#entries.splice(0, forgotten)
    this.#unknownUpTo = this.#cursor - this.#entries.length
  }
}
