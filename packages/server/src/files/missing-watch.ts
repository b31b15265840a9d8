import type { MountTable, NativePath } from '@waldo/local/files'
import type * as Watch from '@waldo/local/watch'
import { limits, type Params, type PathUri, toPosixPath } from '@waldo/protocol'

/** A connection's one watch for files to appear. The newest takes the place of the one before. */
export class MissingWatch {
  readonly #watch: () => typeof Watch
  readonly #mounts: MountTable
  readonly #notify: (watchId: number) => void
  #newest = -1
  #stop: (() => void) | undefined

  constructor(watch: () => typeof Watch, mounts: MountTable, notify: (watchId: number) => void) {
    this.#watch = watch
    this.#mounts = mounts
    this.#notify = notify
  }

  /** False if there is nothing to wait for: the client has to look by itself. */
  watch({ watchId, missing, present }: Params<'fs/watchMissing'>): boolean {
    if (watchId <= this.#newest) return false
    this.#newest = watchId
    this.stop()
    if (missing.length === 0 || missing.length > limits.missingPaths) return false
    const paths = missing.map((uri) => this.#watchable(uri))
    const there = present === undefined ? undefined : this.#watchable(present)
    if (!paths.every((path) => path !== undefined) || (present !== undefined && there === undefined)) return false
    const watch = this.#watch().watchMissing(paths, there, () => {
      this.#stop = undefined
      this.#notify(watchId)
    })
    this.#stop = watch && (() => watch.stop())
    return watch !== undefined
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** Undefined for paths of another system, and for those where nobody would tell us. */
  #watchable(uri: PathUri): NativePath | undefined {
    try {
      const path = toPosixPath(uri) as NativePath
      return this.#mounts.slowMountOf(path) === undefined ? path : undefined
    } catch {
      return undefined
    }
  }
}
