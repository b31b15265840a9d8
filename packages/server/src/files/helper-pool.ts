import { ErrorCode, ProtocolError } from '@waldo/protocol'
import { FileHelper, type HelperOptions } from './file-helper.ts'

/** Searches that run at a time; others wait for one of them. */
const MAX_SEARCHES = 2
const MAX_WAITING = 64
/** A search that takes longer has run away. */
const SEARCH_MS = 120_000
/** A searcher that nobody needs for so long ends. */
const IDLE_MS = 30_000
/** Helpers for slow file systems, of all connections together. */
const MAX_MOUNT_HELPERS = 32

interface Searcher {
  readonly helper: FileHelper
  idle: ReturnType<typeof setTimeout> | undefined
}

/** The helpers of one server. */
export class HelperPool {
  readonly #options: HelperOptions
  readonly #mountHelpers = new Set<FileHelper>()
  readonly #searchers = new Set<Searcher>()
  readonly #idle: Searcher[] = []
  readonly #waiting: (() => void)[] = []

  constructor(options: HelperOptions) {
    this.#options = options
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

  /** A search has a helper to itself, so that it can be ended at any moment. */
  async search(method: string, params: unknown, signal: AbortSignal): Promise<object> {
    const searcher = await this.#take()
    clearTimeout(searcher.idle)
    const kill = () => searcher.helper.kill()
    const timer = setTimeout(kill, SEARCH_MS)
    signal.addEventListener('abort', kill, { once: true })
    if (signal.aborted) kill()
    try {
      return await searcher.helper.call(method, params)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      this.#giveBack(searcher)
    }
  }

  close(): void {
    for (const helper of this.#mountHelpers) helper.kill()
    for (const { helper, idle } of this.#searchers) {
      clearTimeout(idle)
      helper.kill()
    }
  }

  async #take(): Promise<Searcher> {
    for (;;) {
      const idle = this.#idle.pop()
      if (idle) return idle
      if (this.#searchers.size < MAX_SEARCHES) return this.#start()
      if (this.#waiting.length >= MAX_WAITING) {
        throw new ProtocolError(ErrorCode.internal, `${MAX_WAITING} searches are waiting already; try again later`)
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #start(): Searcher {
    const searcher: Searcher = { helper: new FileHelper(this.#options), idle: undefined }
    this.#searchers.add(searcher)
    void searcher.helper.ended.then(() => {
      clearTimeout(searcher.idle)
      this.#searchers.delete(searcher)
      const index = this.#idle.indexOf(searcher)
      if (index >= 0) this.#idle.splice(index, 1)
      this.#waiting.shift()?.()
    })
    return searcher
  }

  #giveBack(searcher: Searcher): void {
    // One that was killed leaves through its end.
    if (!searcher.helper.alive) return
    this.#idle.push(searcher)
    searcher.idle = setTimeout(() => searcher.helper.kill(), IDLE_MS)
    searcher.idle.unref()
    this.#waiting.shift()?.()
  }
}
