import {
  type EnvironmentInfo,
  ErrorCode,
  isMethod,
  type Method,
  methods,
  type Params,
  ProtocolError,
  type Result,
  type SandboxInfo,
} from '@waldo/protocol'
import type { ConnectionServices } from './connection-services.ts'
import type { EncodedResult } from './encoded-result.ts'
import { type FileMethod, isFileMethod } from './files/file-methods.ts'
import type { ReadContext } from './read-output.ts'
import type { Session } from './session.ts'

/** What a handler may use. */
export interface Call extends ReadContext {
  readonly session: Session
  readonly environmentInfo: EnvironmentInfo
  /** Takes some milliseconds the first time. */
  sandboxInfo(): SandboxInfo
  readonly services: ConnectionServices
  /** Ends the session of the call, and then its connection. */
  endSession(): void
}

type Answer<T> = T | Promise<T>
/** A method that is added to the protocol does not compile here until somebody answers it. */
type Routes = {
  [M in Exclude<Method, 'initialize' | FileMethod>]: (call: Call, params: Params<M>) => Answer<Result<M>>
}

const routes: Routes = {
  'session/end': (call) => {
    call.endSession()
    return {}
  },
  'environment/info': (call) => ({ ...call.environmentInfo, sandbox: call.sandboxInfo() }),
  'environment/status': () => ({ status: 'ready' }),
  'process/start': (call, params) => call.session.start(params),
  'process/read': (call, params) => call.session.read(params, call),
  'process/write': (call, params) => call.session.write(params, call.signal),
  'process/signal': (call, params) => call.session.signal(params),
  'process/terminate': (call, params) => call.session.terminate(params),
  'process/resize': (call, params) => call.session.resize(params),
  'process/closeStdin': (call, params) => call.session.closeStdin(params),
  'process/list': (call, params) => call.session.list(params),
  'fs/watchMissing': (call, params) => call.services.files.watchMissing(params),
  'fs/watch': (call, params) => call.services.watches.watch(params),
  'fs/unwatch': (call, params) => call.services.watches.unwatch(params),
  'http/request': (call, params) => call.services.http.request(params),
  'http/flow': (call, params) => call.services.http.flow(params),
  'http/cancel': (call, params) => call.services.http.cancel(params),
}

/** A call whose method exists and whose params have the right shape. */
export interface DecodedCall {
  readonly method: Method
  readonly params: unknown
  /** The params as they came. */
  readonly raw: unknown
}

/** Throws a `ProtocolError` for what does not decode. */
export function decodeCall(method: string, params: unknown): DecodedCall {
  if (!isMethod(method)) {
    throw new ProtocolError(ErrorCode.methodNotFound, `this executor has no method \`${method.slice(0, 100)}\``)
  }
  return { method, params: methods[method].params(params), raw: params }
}

export function route({ method, params, raw }: DecodedCall, call: Call): Answer<object | EncodedResult> {
  // These are shared with processes that do nothing else.
  if (isFileMethod(method)) return call.services.files.call({ method, params: params as Params<FileMethod>, raw })
  const handler = routes[method as keyof Routes] as (call: Call, params: unknown) => Answer<object>
  return handler(call, params)
}
