import type {
  FsChanged,
  FsGlobParams,
  FsGlobResult,
  FsGrepParams,
  FsGrepResult,
  FsMetadata,
  FsWalkOptions,
  FsWalkResult,
  PathUri,
  SandboxRequest,
} from '@waldo/protocol'
import type { CallOptions } from './environment.ts'

/**
 * An absolute path as the environment's own system writes it (`/home/me`, `C:\\me`), or a `file:` URI. It is never
 * looked up on this machine.
 */
export type EnvironmentPath = string | URL

export interface FileOptions extends CallOptions {
  readonly sandbox?: SandboxRequest | undefined
}

export interface FollowOptions extends FileOptions {
  /** False: no part of the path may be a symbolic link. */
  readonly followSymlinks?: boolean | undefined
}

export interface DirectoryEntry {
  readonly name: string
  readonly path: PathUri
  readonly isDirectory: boolean
  readonly isFile: boolean
}

export type WatchBatch = Omit<FsChanged, 'watchId'>

/** The files of an environment. Results name paths as URIs, which no name is lost in. */
export interface FileSystem {
  readFile(path: EnvironmentPath, options?: FollowOptions): Promise<Uint8Array>
  readText(path: EnvironmentPath, options?: FollowOptions): Promise<string>
  /** All or nothing: whoever reads sees the old content or the new. */
  writeFile(path: EnvironmentPath, data: string | Uint8Array, options?: FollowOptions): Promise<void>
  /** Files of any size, as fast as they are read. */
  readStream(path: EnvironmentPath, options?: FileOptions): ReadableStream<Uint8Array>
  /** Takes effect when it is closed; aborted, it leaves the old content. `mode` is for a file that is not there yet. */
  writeStream(path: EnvironmentPath, options?: FileOptions & { readonly mode?: number }): WritableStream<Uint8Array>
  append(path: EnvironmentPath, data: string | Uint8Array, options?: FollowOptions): Promise<void>
  /** With the permission bits, if the executor tells them. */
  metadata(path: EnvironmentPath, options?: FollowOptions): Promise<FsMetadata>
  /** Whether there is something, without an error if not. */
  exists(path: EnvironmentPath, options?: FollowOptions): Promise<boolean>
  setMode(path: EnvironmentPath, mode: number, options?: FollowOptions): Promise<void>
  canonicalize(path: EnvironmentPath, options?: FileOptions): Promise<PathUri>
  createDirectory(path: EnvironmentPath, options?: FollowOptions & { readonly recursive?: boolean }): Promise<void>
  readDirectory(path: EnvironmentPath, options?: FileOptions): Promise<DirectoryEntry[]>
  walk(path: EnvironmentPath, options?: FileOptions & Partial<FsWalkOptions>): Promise<FsWalkResult>
  remove(
    path: EnvironmentPath,
    options?: FollowOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>
  copy(
    source: EnvironmentPath,
    target: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean },
  ): Promise<void>
  rename(
    source: EnvironmentPath,
    target: EnvironmentPath,
    options?: FileOptions & { readonly overwrite?: boolean },
  ): Promise<void>
  glob(path: EnvironmentPath, options?: FileOptions & Partial<FsGlobParams>): Promise<FsGlobResult>
  grep(path: EnvironmentPath, pattern: string, options?: FileOptions & Partial<FsGrepParams>): Promise<FsGrepResult>
  /** What happens below, from now on, until the iteration is ended. Goes on after a cut. */
  watch(path: EnvironmentPath, options?: FileOptions & { readonly recursive?: boolean }): AsyncIterable<WatchBatch>
}
