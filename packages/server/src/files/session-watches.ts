import type { TreeWatch } from '@waldo/local/watch'

interface SessionWatch {
  readonly watch: TreeWatch
  readonly path: string
  readonly recursive: boolean
}

/** The file watches of a session. They go on while nobody is connected, so that nothing is missed. */
export class SessionWatches {
  readonly #watches = new Map<string, SessionWatch>()
  #closed = false

  get closed(): boolean {
    return this.#closed
  }

  get size(): number {
    return this.#watches.size
  }

  /** Undefined if there is none, or one that watches something else. */
  find(watchId: string, path: string, recursive: boolean): TreeWatch | undefined {
    const found = this.#watches.get(watchId)
    return found?.path === path && found.recursive === recursive ? found.watch : undefined
  }

  /** Once the session has ended, nothing stays. */
  set(watchId: string, watch: SessionWatch): void {
    this.remove(watchId)
    if (this.#closed) {
      watch.watch.close()
      return
    }
    this.#watches.set(watchId, watch)
  }

  remove(watchId: string): void {
    this.#watches.get(watchId)?.watch.close()
    this.#watches.delete(watchId)
  }

  close(): void {
    this.#closed = true
    for (const watchId of [...this.#watches.keys()]) this.remove(watchId)
  }
}
