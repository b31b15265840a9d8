import { nothing, type Schema } from './decode.ts'
import type { EnvironmentInfo, EnvironmentStatusResult } from './methods/environment.ts'
import {
  type FsCanonicalizeResult,
  type FsMetadata,
  type FsOpenResult,
  type FsReadBlockResult,
  type FsReadDirectoryResult,
  type FsReadFileResult,
  type FsWalkResult,
  type FsWatchMissingResult,
  fsCanonicalizeParams,
  fsCloseParams,
  fsCopyParams,
  fsCreateDirectoryParams,
  fsGetMetadataParams,
  fsOpenParams,
  fsReadBlockParams,
  fsReadDirectoryParams,
  fsReadFileParams,
  fsRemoveParams,
  fsWalkParams,
  fsWatchMissingParams,
  fsWriteBlockParams,
  fsWriteFileParams,
} from './methods/fs.ts'
import {
  type FsGlobResult,
  type FsGrepResult,
  type FsWatchResult,
  fsAppendParams,
  fsGlobParams,
  fsGrepParams,
  fsRenameParams,
  fsSetModeParams,
  fsUnwatchParams,
  fsWatchParams,
} from './methods/fs-extensions.ts'
import {
  type HttpCancelResult,
  type HttpRequestResult,
  httpCancelParams,
  httpFlowParams,
  httpRequestParams,
} from './methods/http.ts'
import {
  type ProcessListResult,
  type ProcessReadResult,
  type ProcessStartResult,
  type ProcessTerminateResult,
  type ProcessWriteResult,
  processCloseStdinParams,
  processListParams,
  processReadParams,
  processResizeParams,
  processSignalParams,
  processStartParams,
  processTerminateParams,
  processWriteParams,
} from './methods/process.ts'
import { type InitializeResult, initializeParams } from './methods/session.ts'

/** What a method belongs to, in the words of the answer to a client that has not shaken hands yet. */
export type MethodFamily = 'session' | 'exec' | 'filesystem' | 'http' | 'environment info' | 'environment status'

interface MethodSpec<P, R> {
  readonly family: MethodFamily
  readonly params: Schema<P>
  /** Never there: it carries the type of the result. */
  readonly result?: R
}

type Nothing = Record<string, never>

function answers<R>(): <P>(family: MethodFamily, params: Schema<P>) => MethodSpec<P, R> {
  return (family, params) => ({ family, params })
}

/** Every request that a client can make. Router, handlers and types derive from this table. */
export const methods = {
  initialize: answers<InitializeResult>()('session', initializeParams),
  'session/end': answers<Nothing>()('session', nothing),
  'environment/info': answers<EnvironmentInfo>()('environment info', nothing),
  'environment/status': answers<EnvironmentStatusResult>()('environment status', nothing),
  'process/start': answers<ProcessStartResult>()('exec', processStartParams),
  'process/read': answers<ProcessReadResult>()('exec', processReadParams),
  'process/write': answers<ProcessWriteResult>()('exec', processWriteParams),
  'process/signal': answers<Nothing>()('exec', processSignalParams),
  'process/terminate': answers<ProcessTerminateResult>()('exec', processTerminateParams),
  'process/resize': answers<Nothing>()('exec', processResizeParams),
  'process/closeStdin': answers<ProcessWriteResult>()('exec', processCloseStdinParams),
  'process/list': answers<ProcessListResult>()('exec', processListParams),
  'fs/readFile': answers<FsReadFileResult>()('filesystem', fsReadFileParams),
  'fs/writeFile': answers<Nothing>()('filesystem', fsWriteFileParams),
  'fs/createDirectory': answers<Nothing>()('filesystem', fsCreateDirectoryParams),
  'fs/getMetadata': answers<FsMetadata>()('filesystem', fsGetMetadataParams),
  'fs/canonicalize': answers<FsCanonicalizeResult>()('filesystem', fsCanonicalizeParams),
  'fs/readDirectory': answers<FsReadDirectoryResult>()('filesystem', fsReadDirectoryParams),
  'fs/walk': answers<FsWalkResult>()('filesystem', fsWalkParams),
  'fs/remove': answers<Nothing>()('filesystem', fsRemoveParams),
  'fs/copy': answers<Nothing>()('filesystem', fsCopyParams),
  'fs/open': answers<FsOpenResult>()('filesystem', fsOpenParams),
  'fs/readBlock': answers<FsReadBlockResult>()('filesystem', fsReadBlockParams),
  'fs/writeBlock': answers<Nothing>()('filesystem', fsWriteBlockParams),
  'fs/close': answers<Nothing>()('filesystem', fsCloseParams),
  'fs/watchMissing': answers<FsWatchMissingResult>()('filesystem', fsWatchMissingParams),
  'fs/rename': answers<Nothing>()('filesystem', fsRenameParams),
  'fs/append': answers<Nothing>()('filesystem', fsAppendParams),
  'fs/setMode': answers<Nothing>()('filesystem', fsSetModeParams),
  'fs/glob': answers<FsGlobResult>()('filesystem', fsGlobParams),
  'fs/grep': answers<FsGrepResult>()('filesystem', fsGrepParams),
  'fs/watch': answers<FsWatchResult>()('filesystem', fsWatchParams),
  'fs/unwatch': answers<Nothing>()('filesystem', fsUnwatchParams),
  'http/request': answers<HttpRequestResult>()('http', httpRequestParams),
  'http/flow': answers<Nothing>()('http', httpFlowParams),
  'http/cancel': answers<HttpCancelResult>()('http', httpCancelParams),
} satisfies Record<string, MethodSpec<unknown, unknown>>

export type Method = keyof typeof methods
export type Params<M extends Method> = (typeof methods)[M] extends MethodSpec<infer P, unknown> ? P : never
export type Result<M extends Method> = (typeof methods)[M] extends MethodSpec<unknown, infer R> ? R : never

export function isMethod(name: string): name is Method {
  return Object.hasOwn(methods, name)
}
