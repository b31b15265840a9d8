import { ErrorCode, ProtocolError } from '@waldo/protocol'
import type { EncodedResult } from '../encoded-result.ts'
import { FileHelper, type HelperCall, type HelperOptions } from './file-helper.ts'

/** Searches that run at a time; others wait for one of them. */
const MAX_SEARCHES = 4
/** Of one connection, so that there is always a place for another. */
const MAX_OWN_RUNNING = 2
const MAX_WAITING = 64
/** Searches of one connection, running and waiting. */
const MAX_OWN_WAITING = 8
/** A search that takes longer has run away. */
const SEARCH_MS = 120_000
/** A searcher that nobody needs for so long ends. */
const IDLE_MS = 30_000
/** A helper that has answered so many calls is replaced by a new one: whatever it has gathered goes with it. */
const MAX_CALLS = 20_000
/** Helpers for slow file systems, of all connections together. */
const MAX_MOUNT_HELPERS = 32

interface Searcher {
  readonly helper: FileHelper
  idle: ReturnType<typeof setTimeout> | undefined
  /** It is being killed. */
  doomed: boolean
}

/** The helpers of one server for everything, or for what one profile lets them see. */
export class HelperPool {
  readonly #options: HelperOptions
  readonly #mountHelpers = new Set<FileHelper>()
  #common: FileHelper | undefined
  readonly #searchers = new Set<Searcher>()
  readonly #idle: Searcher[] = []
  /** Oldest first. */
  readonly #waiting: { readonly owner: AbortSignal; readonly proceed: () => void }[] = []
  /** Searches that run, by the signal of their connection. */
  readonly #running = new Map<AbortSignal, number>()

  constructor(options: HelperOptions) {
    this.#options = options
  }

  /** The helper that everybody shares, each connection with a channel of its own. */
  get common(): FileHelper {
    const worn = this.#common && this.#common.calls > MAX_CALLS && this.#common.busy + this.#common.openHandles === 0
    if (worn) this.#common?.end()
    if (worn || !this.#common?.alive) this.#common = new FileHelper(this.#options)
    return this.#common!
  }

  /** Whether somebody waits for an answer, or has a file open. */
  get isBusy(): boolean {
    const helpers = this.#common ? [this.#common, ...this.#mountHelpers] : [...this.#mountHelpers]
    return this.#running.size > 0 || helpers.some(({ alive, busy, openHandles }) => alive && busy + openHandles > 0)
  }

  /** A helper for one connection's files on one slow file system. */
  startMountHelper(): FileHelper {
    if (this.#mountHelpers.size >= MAX_MOUNT_HELPERS) {
      throw new ProtocolError(
        ErrorCode.internal,
        `${MAX_MOUNT_HELPERS} connections work on network file systems already: does one of them hang?`,
      )
    }
    const helper = new FileHelper(this.#options)
    this.#mountHelpers.add(helper)
    void helper.ended.then(() => this.#mountHelpers.delete(helper))
    return helper
  }

  /** A search has a helper to itself, so that it can be ended at any moment: by the signal of its connection. */
  async search(call: HelperCall, signal: AbortSignal): Promise<object | EncodedResult> {
    await this.#turn(signal)
    try {
      return await this.#searchNow(call, signal)
    } finally {
      const running = this.#running.get(signal)! - 1
      if (running === 0) this.#running.delete(signal)
      else this.#running.set(signal, running)
      this.#next()
    }
  }

  /** Nobody will ask for anything any more; what is open is put in order. */
  retire(): void {
    this.#common?.end()
    for (const { helper, idle } of this.#searchers) {
      clearTimeout(idle)
      helper.kill()
    }
  }

  close(): void {
    this.#common?.kill()
    for (const helper of this.#mountHelpers) helper.kill()
    for (const { helper, idle } of this.#searchers) {
      clearTimeout(idle)
      helper.kill()
    }
  }

  /** Waits until this connection may have another search, and there is room for one. */
  async #turn(owner: AbortSignal): Promise<void> {
    if (!this.#mayRun(owner)) {
      const own = this.#waiting.filter((waiter) => waiter.owner === owner).length
      if (own >= MAX_OWN_WAITING || this.#waiting.length >= MAX_WAITING) {
        throw new ProtocolError(ErrorCode.internal, 'too many searches are waiting already; try again later')
      }
      await new Promise<void>((proceed) => this.#waiting.push({ owner, proceed }))
    } else this.#count(owner)
  }

  #count(owner: AbortSignal): void {
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
  }

  #mayRun(owner: AbortSignal): boolean {
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0)
    return all < MAX_SEARCHES && (this.#running.get(owner) ?? 0) < MAX_OWN_RUNNING
  }

  #next(): void {
    const index = this.#waiting.findIndex(({ owner }) => this.#mayRun(owner))
    if (index < 0) return
    const { owner, proceed } = this.#waiting.splice(index, 1)[0]!
    // Now: whoever comes before it wakes up must find the place taken.
    this.#count(owner)
    proceed()
  }

  async #searchNow(call: HelperCall, signal: AbortSignal): Promise<object | EncodedResult> {
    const searcher = this.#idle.pop() ?? this.#start()
    clearTimeout(searcher.idle)
    const kill = () => {
      searcher.doomed = true
      searcher.helper.kill()
    }
    const timer = setTimeout(kill, SEARCH_MS)
    signal.addEventListener('abort', kill, { once: true })
    if (signal.aborted) kill()
    try {
      return await searcher.helper.call(call)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      this.#giveBack(searcher)
    }
  }

  #start(): Searcher {
    const searcher: Searcher = { helper: new FileHelper(this.#options), idle: undefined, doomed: false }
    this.#searchers.add(searcher)
    void searcher.helper.ended.then(() => {
      clearTimeout(searcher.idle)
      this.#searchers.delete(searcher)
      this.#forget(searcher)
    })
    return searcher
  }

  #giveBack(searcher: Searcher): void {
    // One that was killed leaves through its end.
    if (searcher.doomed || !searcher.helper.alive) return
    this.#idle.push(searcher)
    searcher.idle = setTimeout(() => {
      this.#forget(searcher)
      searcher.helper.kill()
    }, IDLE_MS)
    searcher.idle.unref()
  }

  #forget(searcher: Searcher): void {
    const index = this.#idle.indexOf(searcher)
    if (index >= 0) this.#idle.splice(index, 1)
  }
}
