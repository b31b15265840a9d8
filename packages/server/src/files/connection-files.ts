import type * as Files from '@waldo/local/files'
import type * as Search from '@waldo/local/search'
import type * as Watch from '@waldo/local/watch'
import type { Params, Result } from '@waldo/protocol'
import type { EncodedResult } from '../encoded-result.ts'
import type { FileHelper } from './file-helper.ts'
import { type FileContext, type FileMethod, fileMethods, native, refuseRestricted } from './file-methods.ts'
import type { HelperPool } from './helper-pool.ts'
import { MissingWatch } from './missing-watch.ts'

/** What all connections of a server share to work on files. */
export interface FileServices {
  readonly files: typeof Files
  /** Loaded when they are needed. */
  readonly search: () => typeof Search
  readonly watch: () => typeof Watch
  readonly mounts: Files.MountTable
  /** Undefined in a helper, which does everything itself. */
  readonly helpers: HelperPool | undefined
}

export interface FileCall {
  readonly method: FileMethod
  readonly params: Params<FileMethod>
  /** As it came, for a helper that decodes it again. */
  readonly raw: unknown
}

/** What an answer to a search may take: 4 MiB of text, escaped. */
const SEARCH_BYTES = 16 * 1024 * 1024
/** What goes on below a path, where another file system may be. */
const DESCENDING: ReadonlySet<FileMethod> = new Set(['fs/walk', 'fs/copy', 'fs/remove'])

type Answer = object | EncodedResult | Promise<object | EncodedResult>

/** The file access of one connection: its handles and its watch end with it. */
export class ConnectionFiles {
  readonly #services: FileServices
  readonly #context: FileContext
  readonly #missing: MissingWatch
  /** By mount point. */
  readonly #mountHelpers = new Map<string, FileHelper>()
  /** Handles that are open in one of those. */
  readonly #elsewhere = new Map<string, FileHelper>()

  constructor(
    services: FileServices,
    { signal, answers }: Pick<FileContext, 'signal' | 'answers'>,
    onMissingChanged: (watchId: number) => void,
  ) {
    const { files, search, watch, mounts } = services
    this.#services = services
    // A helper is there to touch such files.
    const isSlow = (path: Files.NativePath) => services.helpers !== undefined && mounts.slowMountOf(path) !== undefined
    this.#context = { files, handles: new files.FileHandles(), search, signal, answers, isSlow }
    this.#missing = new MissingWatch(watch, mounts, onMissingChanged)
  }

  call({ method, params, raw }: FileCall): Answer {
    if ('sandbox' in params) refuseRestricted(params.sandbox)
    const { helpers } = this.#services
    if (helpers) {
      if (method === 'fs/glob' || method === 'fs/grep') {
        const { answers, signal } = this.#context
        return answers.within(SEARCH_BYTES, () => helpers.search(method, raw, signal))
      }
      if ('handleId' in params) {
        const answer = this.#callOnHandle(method, params, raw)
        if (answer) return answer
      } else {
        const helper = this.#helperOfPath(params, DESCENDING.has(method))
        if (helper) return helper.call(method, raw)
      }
    }
    const handler = fileMethods[method] as (params: Params<FileMethod>, context: FileContext) => Answer
    return handler(params, this.#context)
  }

  watchMissing(params: Params<'fs/watchMissing'>): Result<'fs/watchMissing'> {
    return { watching: this.#missing.watch(params) }
  }

  close(): void {
    this.#context.handles.closeAll()
    this.#missing.stop()
    for (const helper of this.#mountHelpers.values()) helper.end()
  }

  /** Undefined for files that we may touch ourselves. */
  #helperOfPath(params: Params<FileMethod>, descends: boolean): FileHelper | undefined {
    const paths =
      'path' in params ? [params.path] : 'sourcePath' in params ? [params.sourcePath, params.destinationPath] : []
    for (const path of paths) {
      const { mounts } = this.#services
      const file = native(path)
      const mount = mounts.slowMountOf(file) ?? (descends ? mounts.slowMountBelow(file) : undefined)
      if (mount !== undefined) return this.#helperOfMount(mount)
    }
    return undefined
  }

  /** Undefined for handles that are, or will be, here. */
  #callOnHandle(
    method: FileMethod,
    params: Params<FileMethod> & { handleId: string },
    raw: unknown,
  ): Promise<object> | undefined {
    const { handleId } = params
    const known = this.#elsewhere.get(handleId)
    if (known) {
      if (method === 'fs/close') this.#elsewhere.delete(handleId)
      return known.call(method, raw)
    }
    if (method !== 'fs/open' || this.#context.handles.has(handleId)) return undefined
    const helper = this.#helperOfPath(params, false)
    if (!helper) return undefined
    // At once: calls on the handle may be on their way already.
    this.#elsewhere.set(handleId, helper)
    return helper.call(method, raw).catch((error) => {
      this.#elsewhere.delete(handleId)
      throw error
    })
  }

  #helperOfMount(mount: string): FileHelper {
    const existing = this.#mountHelpers.get(mount)
    if (existing?.alive) return existing
    const helper = this.#services.helpers!.startMountHelper()
    this.#mountHelpers.set(mount, helper)
    void helper.ended.then(() => {
      for (const [id, owner] of this.#elsewhere) if (owner === helper) this.#elsewhere.delete(id)
    })
    return helper
  }
}
