import { ExecError } from '@waldo/environment'
import { displayPath, type MountTable, type NativePath, realPath, systemError } from '@waldo/local/files'
import type { TreeWatch } from '@waldo/local/watch'
import { type FsChanged, fromPosixPath, type Params, type Result } from '@waldo/protocol'
import { encodeNotification } from '@waldo/rpc'
import type { FileRules } from '@waldo/sandbox'
import { native } from './file-methods.ts'
import { plainPath } from './plain-path.ts'
import type { SandboxedFiles } from './sandboxed-files.ts'
import type { SessionWatches } from './session-watches.ts'

const MAX_WATCHES = 64

interface Subscription {
  readonly watch: TreeWatch
  /** What it may hear of; undefined: everything. */
  readonly isVisible: ((path: NativePath) => boolean) | undefined
  /** What the client knows already. */
  cursor: number
  readonly stop: () => void
}

export interface WatchesOptions {
  readonly sandboxed: SandboxedFiles
  readonly open: typeof TreeWatch.open
  readonly mounts: MountTable
  readonly watches: SessionWatches
  readonly send: (text: string) => void
  /** Whether the client reads what it is sent. */
  readonly hasRoom: () => boolean
}

/** Tells one connection what happens in the trees that its session watches. */
export class Watches {
  readonly #options: WatchesOptions
  readonly #subscriptions = new Map<string, Subscription>()
  #opening = 0
  #closed = false

  constructor(options: WatchesOptions) {
    this.#options = options
  }

  async watch({ watchId, path, recursive, cursor, sandbox }: Params<'fs/watch'>): Promise<Result<'fs/watch'>> {
    const { watches, sandboxed } = this.#options
    const rules = sandboxed.accessFor(sandbox)?.rules
    const isVisible = rules && visibility(native(path), rules)
    this.#unsubscribe(watchId)
    const known = watches.find(watchId, path, recursive)
    const watch = known ?? (await this.#open(native(path), recursive))
    if (!known) watches.set(watchId, { watch, path, recursive })
    if (this.#closed || watches.closed) throw new ExecError('CLOSED', 'the connection is gone')
    const subscription: Subscription = {
      watch,
      isVisible,
      cursor: cursor ?? watch.cursor,
      stop: watch.onChange(() => this.#tell(watchId)),
    }
    this.#unsubscribe(watchId)
    this.#subscriptions.set(watchId, subscription)
    // After the answer: what the client missed while it was away.
    setImmediate(() => this.#tell(watchId))
    return { cursor: subscription.cursor }
  }

  unwatch({ watchId }: Params<'fs/unwatch'>): Result<'fs/unwatch'> {
    this.#unsubscribe(watchId)
    this.#options.watches.remove(watchId)
    return {}
  }

  /** The client has read what it was sent. */
  writable(): void {
    for (const watchId of this.#subscriptions.keys()) this.#tell(watchId)
  }

  close(): void {
    this.#closed = true
    for (const watchId of [...this.#subscriptions.keys()]) this.#unsubscribe(watchId)
  }

  async #open(path: NativePath, recursive: boolean): Promise<TreeWatch> {
    const { open, mounts, watches } = this.#options
    if (watches.size + this.#opening >= MAX_WATCHES) {
      throw new ExecError('FILE_INVALID', `at most ${MAX_WATCHES} watches per session; end one with fs/unwatch`)
    }
    const mount = mounts.slowMountOf(path) ?? (recursive ? mounts.slowMountBelow(path) : undefined)
    if (mount !== undefined) {
      throw new ExecError('FILE_INVALID', `cannot watch files on ${mount}: a network file system does not tell`)
    }
    this.#opening++
    try {
      return await open(path, { recursive })
    } finally {
      this.#opening--
    }
  }

  #unsubscribe(watchId: string): void {
    this.#subscriptions.get(watchId)?.stop()
    this.#subscriptions.delete(watchId)
  }

  /** While the client does not read, changes come together in the journal of the watch. */
  #tell(watchId: string): void {
    const subscription = this.#subscriptions.get(watchId)
    if (!subscription || !this.#options.hasRoom()) return
    const { cursor, changes, overflow } = subscription.watch.since(subscription.cursor)
    if (cursor === subscription.cursor) return
    subscription.cursor = cursor
    const { isVisible } = subscription
    const visible = isVisible ? changes.filter((change) => isVisible(change.path)) : changes
    if (visible.length === 0 && !overflow) return
    const params: FsChanged = {
      watchId,
      cursor,
      changes: visible.map(({ path, kind }) => ({ path: fromPosixPath(path), kind })),
      overflow,
    }
    this.#options.send(encodeNotification('fs/changed', params))
  }
}

/** Which paths below the one that is to be watched may be heard of. Throws if it is none of them itself. */
function visibility(path: NativePath, rules: FileRules): (path: NativePath) => boolean {
  const real = displayPath(plainPath(realPath(path)))
  const { access, explicit } = rules.decide(real)
  if (access === 'none') throw systemError(explicit ? 'EACCES' : 'ENOENT', path)
  // A slash at the end is none of a name.
  const [given, root] = [displayPath(path), real].map((text) => text.replace(/\/+$/, '')) as [string, string]
  // They are reported below the path that was given, which may lead through links.
  return (changed) => rules.decide(`${root}${displayPath(changed).slice(given.length)}`).access !== 'none'
}
