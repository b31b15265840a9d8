import type * as Files from '@waldo/local/files'
import type * as Search from '@waldo/local/search'
import type * as Watch from '@waldo/local/watch'
import type { Params, Result, SandboxIntent } from '@waldo/protocol'
import { EncodedResult } from '../encoded-result.ts'
import { readDirectly } from './direct-read.ts'
import type { FileHelper, HelperCall } from './file-helper.ts'
import { type FileContext, type FileMethod, fileMethods, native } from './file-methods.ts'
import type { HelperPool } from './helper-pool.ts'
import { MissingWatch } from './missing-watch.ts'
import type { SandboxedFiles } from './sandboxed-files.ts'

/** What all connections of a server share to work on files. */
export interface FileServices {
  readonly files: typeof Files
  /** Loaded when they are needed. */
  readonly search: () => typeof Search
  readonly watch: () => typeof Watch
  readonly mounts: Files.MountTable
  readonly helpers: HelperPool
  readonly sandboxed: SandboxedFiles
  /** The executor's own, which nobody who is restricted has to see. */
  readonly hidden: readonly string[]
}

export interface FileCall {
  readonly method: FileMethod
  readonly params: Params<FileMethod>
  /** As it came, for a helper that decodes it again. */
  readonly raw: unknown
}

/** What goes on below a path, where another file system may be. */
const DESCENDING: ReadonlySet<FileMethod> = new Set(['fs/walk', 'fs/copy', 'fs/remove'])

type Answer = object | EncodedResult | Promise<object | EncodedResult>

let lastChannel = 0

/** The file access of one connection: its handles and its watch end with it. */
export class ConnectionFiles {
  readonly #services: FileServices
  readonly #context: FileContext
  readonly #missing: MissingWatch
  /** What is ours in helpers that others use, too. */
  readonly #channel = ++lastChannel
  readonly #shared = new Set<FileHelper>()
  /** Ours alone, by the pool that they are from and the mount point that they are for. */
  readonly #mountHelpers = new Map<HelperPool, Map<string, FileHelper>>()
  /** Handles that are open in one of all those. */
  readonly #elsewhere = new Map<string, FileHelper>()

  constructor(
    services: FileServices,
    { signal, answers }: Pick<FileContext, 'signal' | 'answers'>,
    onMissingChanged: (watchId: number) => void,
  ) {
    const { files, search, watch, mounts } = services
    this.#services = services
    const isSlow = (path: Files.NativePath) => mounts.slowMountOf(path) !== undefined
    this.#context = { files, handles: new files.FileHandles(), search, signal, answers, isSlow }
    this.#missing = new MissingWatch(watch, mounts, onMissingChanged)
  }

  call(call: FileCall): Answer {
    const { method, params } = call
    if ('handleId' in params && method !== 'fs/open') {
      const helper = this.#elsewhere.get(params.handleId)
      if (!helper) return this.#here(call)
      if (method === 'fs/close') this.#forget(params.handleId)
      return helper.call(this.#toHelper(call))
    }
    const restricted = this.#services.sandboxed.accessFor((params as { sandbox?: SandboxIntent }).sandbox)
    if (restricted?.rules.readsEverything && method === 'fs/readFile') {
      const small = this.#readDirectly(params as Params<'fs/readFile'>)
      if (small) return small
    }
    const sandboxed = restricted?.pool()
    const pool = sandboxed ?? this.#services.helpers
    if (method === 'fs/glob' || method === 'fs/grep') return pool.search(this.#toHelper(call), this.#context.signal)
    const slow = this.#slowMount(params, DESCENDING.has(method))
    const helper = slow === undefined ? sandboxed && this.#share(sandboxed.common) : this.#mountHelper(pool, slow)
    if (!helper) return this.#here(call)
    return method === 'fs/open' ? this.#open(helper, call) : helper.call(this.#toHelper(call))
  }

  watchMissing(params: Params<'fs/watchMissing'>): Result<'fs/watchMissing'> {
    return { watching: this.#missing.watch(params) }
  }

  close(): void {
    this.#context.handles.closeAll()
    this.#missing.stop()
    for (const helpers of this.#mountHelpers.values()) for (const helper of helpers.values()) helper.end()
    for (const handleId of [...this.#elsewhere.keys()]) this.#forget(handleId)
    for (const helper of this.#shared) helper.endChannel(this.#channel)
  }

  #here({ method, params }: FileCall): Answer {
    const handler = fileMethods[method] as (params: Params<FileMethod>, context: FileContext) => Answer
    return handler(params, this.#context)
  }

  /** Undefined if it takes a helper. */
  #readDirectly({ path, followSymlinks }: Params<'fs/readFile'>): EncodedResult | undefined {
    const { files, hidden, mounts } = this.#services
    const file = native(path)
    if (mounts.slowMountOf(file) !== undefined) return undefined
    const content = readDirectly(files, file, { followSymlinks, hidden })
    return content && new EncodedResult('dataBase64', content)
  }

  #toHelper({ method, raw }: FileCall): HelperCall {
    return { channel: this.#channel, method, params: raw as object, answers: this.#context.answers }
  }

  #open(helper: FileHelper, call: FileCall): Answer {
    const { handleId } = call.params as Params<'fs/open'>
    // Then it is an error, which is told here.
    if (this.#context.handles.has(handleId)) return this.#here(call)
    if (this.#elsewhere.has(handleId)) return this.#elsewhere.get(handleId)!.call(this.#toHelper(call))
    // At once: calls on the handle may be on their way already.
    this.#elsewhere.set(handleId, helper)
    helper.openHandles++
    return helper.call(this.#toHelper(call)).catch((error) => {
      this.#forget(handleId)
      throw error
    })
  }

  #forget(handleId: string): void {
    const helper = this.#elsewhere.get(handleId)
    if (helper) helper.openHandles--
    this.#elsewhere.delete(handleId)
  }

  /** Undefined for files that always answer. */
  #slowMount(params: Params<FileMethod>, descends: boolean): string | undefined {
    const paths =
      'path' in params ? [params.path] : 'sourcePath' in params ? [params.sourcePath, params.destinationPath] : []
    for (const path of paths) {
      const { mounts } = this.#services
      const file = native(path)
      const mount = mounts.slowMountOf(file) ?? (descends ? mounts.slowMountBelow(file) : undefined)
      if (mount !== undefined) return mount
    }
    return undefined
  }

  #share(helper: FileHelper): FileHelper {
    if (this.#shared.has(helper)) return helper
    this.#shared.add(helper)
    this.#forgetAtEnd(helper)
    void helper.ended.then(() => this.#shared.delete(helper))
    return helper
  }

  #mountHelper(pool: HelperPool, mount: string): FileHelper {
    const helpers = this.#mountHelpers.get(pool) ?? new Map<string, FileHelper>()
    this.#mountHelpers.set(pool, helpers)
    const existing = helpers.get(mount)
    if (existing?.alive) return existing
    const helper = pool.startMountHelper()
    helpers.set(mount, helper)
    this.#forgetAtEnd(helper)
    return helper
  }

  #forgetAtEnd(helper: FileHelper): void {
    void helper.ended.then(() => {
      for (const [id, owner] of this.#elsewhere) if (owner === helper) this.#elsewhere.delete(id)
    })
  }
}
