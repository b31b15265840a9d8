import type { ByteString } from '../byte-string.ts'

export type ChangeKind = 'created' | 'modified' | 'removed'

export interface SeenChange {
  readonly path: ByteString
  readonly kind: ChangeKind
  readonly isDirectory: boolean
}

/** Changes with one for each path, except that a directory which was replaced has two. */
export class MergedChanges {
  readonly #byPath = new Map<ByteString, { entry: SeenChange; era: number }>()
  /** Begins anew when a directory is removed: what is said after that must not be moved before it. */
  #era = 0

  get size(): number {
    return this.#byPath.size
  }

  add(entry: SeenChange): void {
    const { path } = entry
    if (entry.kind === 'removed' && entry.isDirectory) {
      this.#era++
      this.#byPath.delete(path)
      // No path ends with a slash, so that one can hold the removal while the path goes on to what comes after it.
      this.#byPath.delete(`${path}/`)
      this.#byPath.set(`${path}/`, { entry, era: this.#era })
      return
    }
    const earlier = this.#byPath.get(path)
    const kind = mergedKind(earlier?.entry.kind, entry.kind)
    if (earlier?.era !== this.#era) this.#byPath.delete(path)
    this.#byPath.set(path, { entry: kind === entry.kind ? entry : { ...entry, kind }, era: this.#era })
  }

  clear(): void {
    this.#byPath.clear()
  }

  *[Symbol.iterator](): Iterator<SeenChange> {
    for (const { entry } of this.#byPath.values()) yield entry
  }
}

/**
 * What came and went is still `removed`, not nothing: a reader may know the path from before, because what is found
 * in a new directory is said to be created even if it was there.
 */
function mergedKind(earlier: ChangeKind | undefined, later: ChangeKind): ChangeKind {
  if (later === 'modified' && earlier === 'created') return 'created'
  if (later === 'created' && earlier === 'removed') return 'modified'
  return later
}
