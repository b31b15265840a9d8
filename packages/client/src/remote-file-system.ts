import {
  type DirectoryEntry,
  type EnvironmentPath,
  ExecError,
  type FileOptions,
  type FileSystem,
  type FollowOptions,
  type WatchBatch,
} from '@waldo/environment'
import {
  type Capabilities,
  decodeBase64,
  type FsGlobParams,
  type FsGrepParams,
  type FsMetadata,
  type FsWalkOptions,
  joinPath,
  limits,
  type Method,
  type PathUri,
  type Result,
  type SandboxRequest,
} from '@waldo/protocol'
import { encodeBase64 } from './encode-base64.ts'
import { toPathUri } from './environment-path.ts'
import type { ExecSession } from './exec-session.ts'
import { readStream, writeStream } from './file-streams.ts'
import { watchFiles } from './watched-files.ts'

/** Looking twice is the same as looking once; changing twice may not be. */
const RESENT: ReadonlySet<Method> = new Set([
  'fs/readFile',
  'fs/getMetadata',
  'fs/canonicalize',
  'fs/readDirectory',
  'fs/walk',
  'fs/glob',
  'fs/grep',
])

export class RemoteFileSystem implements FileSystem {
  readonly #session: ExecSession

  constructor(session: ExecSession) {
    this.#session = session
  }

  async readFile(path: EnvironmentPath, options: FollowOptions = {}): Promise<Uint8Array> {
    const { dataBase64 } = await this.#call('fs/readFile', this.#at(path, options), options)
    return decodeBase64(dataBase64)
  }

  async readText(path: EnvironmentPath, options: FollowOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.readFile(path, options))
  }

  async writeFile(path: EnvironmentPath, data: string | Uint8Array, options: FollowOptions = {}): Promise<void> {
    await this.#call('fs/writeFile', { ...this.#at(path, options), dataBase64: encode(data) }, options)
  }

  readStream(path: EnvironmentPath, options: FileOptions = {}): ReadableStream<Uint8Array> {
    return readStream(this.#session, this.#at(path, options), options)
  }

  writeStream(
    path: EnvironmentPath,
    { mode, ...options }: FileOptions & { mode?: number } = {},
  ): WritableStream<Uint8Array> {
    const createMode = mode === undefined ? {} : { createMode: mode & 0o777 }
    return writeStream(this.#session, { ...this.#at(path, options), ...createMode }, options)
  }

  async append(path: EnvironmentPath, data: string | Uint8Array, options: FollowOptions = {}): Promise<void> {
    await this.#need('fsAppend', 'append to files', options)
    await this.#call('fs/append', { ...this.#at(path, options), dataBase64: encode(data) }, options)
  }

  async metadata(path: EnvironmentPath, options: FollowOptions = {}): Promise<FsMetadata> {
    const { info } = await this.#session.live(options)
    const withMode = info.capabilities?.fsSetMode ? { withMode: true } : {}
    return await this.#call('fs/getMetadata', { ...this.#at(path, options), ...withMode }, options)
  }

  async exists(path: EnvironmentPath, options: FollowOptions = {}): Promise<boolean> {
    try {
      await this.metadata(path, options)
      return true
    } catch (error) {
      if (ExecError.is(error, 'FILE_NOT_FOUND')) return false
      throw error
    }
  }

  async setMode(path: EnvironmentPath, mode: number, options: FollowOptions = {}): Promise<void> {
    await this.#need('fsSetMode', 'set the mode of files', options)
    await this.#call('fs/setMode', { ...this.#at(path, options), mode }, options)
  }

  async canonicalize(path: EnvironmentPath, options: FileOptions = {}): Promise<PathUri> {
    return (await this.#call('fs/canonicalize', this.#at(path, options), options)).path
  }

  async createDirectory(
    path: EnvironmentPath,
    { recursive = true, ...options }: FollowOptions & { recursive?: boolean } = {},
  ): Promise<void> {
    await this.#call('fs/createDirectory', { ...this.#at(path, options), recursive }, options)
  }

  async readDirectory(path: EnvironmentPath, options: FileOptions = {}): Promise<DirectoryEntry[]> {
    const params = this.#at(path, options)
    const { entries } = await this.#call('fs/readDirectory', params, options)
    return entries.map(({ fileName, isDirectory, isFile, path: exact }) => ({
      name: fileName,
      path: exact ?? joinPath(params.path, fileName),
      isDirectory,
      isFile,
    }))
  }

  async walk(path: EnvironmentPath, options: FileOptions & Partial<FsWalkOptions> = {}): Promise<Result<'fs/walk'>> {
    const { signal: _, sandbox: __, ...given } = options
    const walk = {
      maxDepth: limits.walkDepth,
      maxDirectories: limits.walkDirectories,
      maxEntries: limits.walkEntries,
      followDirectorySymlinks: false,
      ...given,
    }
    return await this.#call('fs/walk', { ...this.#at(path, options), options: walk }, options)
  }

  async remove(
    path: EnvironmentPath,
    { recursive = true, force = true, ...options }: FollowOptions & { recursive?: boolean; force?: boolean } = {},
  ): Promise<void> {
    await this.#call('fs/remove', { ...this.#at(path, options), recursive, force }, options)
  }

  async copy(
    source: EnvironmentPath,
    target: EnvironmentPath,
    { recursive = true, ...options }: FileOptions & { recursive?: boolean } = {},
  ): Promise<void> {
    await this.#call('fs/copy', { ...between(source, target), recursive, sandbox: options.sandbox }, options)
  }

  async rename(
    source: EnvironmentPath,
    target: EnvironmentPath,
    { overwrite = true, ...options }: FileOptions & { overwrite?: boolean } = {},
  ): Promise<void> {
    await this.#need('fsRename', 'rename files', options)
    await this.#call('fs/rename', { ...between(source, target), overwrite, sandbox: options.sandbox }, options)
  }

  async glob(
    path: EnvironmentPath,
    { signal, sandbox, ...request }: FileOptions & Partial<FsGlobParams> = {},
  ): Promise<Result<'fs/glob'>> {
    await this.#need('fsGlob', 'search for files', { signal })
    return await this.#call('fs/glob', { ...request, ...this.#at(path, { sandbox }) }, { signal })
  }

  async grep(
    path: EnvironmentPath,
    pattern: string,
    { signal, sandbox, ...request }: FileOptions & Partial<FsGrepParams> = {},
  ): Promise<Result<'fs/grep'>> {
    await this.#need('fsGrep', 'search in files', { signal })
    return await this.#call('fs/grep', { ...request, ...this.#at(path, { sandbox }), pattern }, { signal })
  }

  async *watch(
    path: EnvironmentPath,
    { recursive = true, ...options }: FileOptions & { recursive?: boolean } = {},
  ): AsyncGenerator<WatchBatch> {
    await this.#need('fsWatch', 'watch files', options)
    yield* watchFiles(this.#session, { ...this.#at(path, options), recursive }, options.signal)
  }

  #at(path: EnvironmentPath, { followSymlinks, sandbox }: FollowOptions): { path: PathUri; sandbox?: SandboxRequest } {
    const follow = followSymlinks === undefined ? {} : { followSymlinks }
    return { path: toPathUri(path), ...follow, ...(sandbox && { sandbox }) }
  }

  async #need(capability: keyof Capabilities, what: string, options: FileOptions): Promise<void> {
    const { info } = await this.#session.live(options)
    if (!info.capabilities?.[capability]) throw new ExecError('UNSUPPORTED', `this executor cannot ${what}`)
  }

  async #call<M extends Method>(method: M, params: object, { signal }: FileOptions): Promise<Result<M>> {
    return (await this.#session.call(method, params, { signal, resend: RESENT.has(method) })) as Result<M>
  }
}

function between(source: EnvironmentPath, target: EnvironmentPath): object {
  return { sourcePath: toPathUri(source), destinationPath: toPathUri(target) }
}

function encode(data: string | Uint8Array): string {
  return encodeBase64(typeof data === 'string' ? new TextEncoder().encode(data) : data)
}
