import { ExecError } from '@waldo/environment'
import {
  DecodeError,
  type EnvironmentInfo,
  ErrorCode,
  isMethod,
  type Method,
  methods,
  type Params,
  ProtocolError,
  type Result,
} from '@waldo/protocol'
import type { ReadContext } from './read-output.ts'
import type { Session } from './session.ts'

/** What a handler may use. */
export interface Call extends ReadContext {
  readonly session: Session
  readonly environmentInfo: EnvironmentInfo
  /** Ends the session of the call, and then its connection. */
  endSession(): void
}

type Answer<T> = T | Promise<T>
/** A method that is added to the protocol does not compile here until somebody answers it. */
type Routes = { [M in Exclude<Method, 'initialize'>]: (call: Call, params: Params<M>) => Answer<Result<M>> }

const routes: Routes = {
  'session/end': (call) => {
    call.endSession()
    return {}
  },
  'environment/info': (call) => call.environmentInfo,
  'environment/status': () => ({ status: 'ready' }),
  'process/start': (call, params) => call.session.start(params),
  'process/read': (call, params) => call.session.read(params, call),
  'process/write': (call, params) => call.session.write(params, call.signal),
  'process/signal': (call, params) => call.session.signal(params),
  'process/terminate': (call, params) => call.session.terminate(params),
  'process/resize': (call, params) => call.session.resize(params),
  'process/closeStdin': (call, params) => call.session.closeStdin(params),
  'process/list': (call) => call.session.list(),
}

/** A call whose method exists and whose params have the right shape. */
export interface DecodedCall {
  readonly method: Method
  readonly params: unknown
}

/** Throws a `ProtocolError` for what does not decode. */
export function decodeCall(method: string, params: unknown): DecodedCall {
  if (!isMethod(method)) {
    throw new ProtocolError(ErrorCode.methodNotFound, `this executor has no method \`${method.slice(0, 100)}\``)
  }
  return { method, params: methods[method].params(params) }
}

export function route({ method, params }: DecodedCall, call: Call): Answer<object> {
  const handler = routes[method as keyof Routes] as (call: Call, params: unknown) => Answer<object>
  return handler(call, params)
}

/** The only place where a failure gets its number. */
export function toWireError(error: unknown): { code: number; message: string } {
  if (error instanceof ProtocolError) return error
  if (error instanceof DecodeError) return { code: ErrorCode.invalidParams, message: error.message }
  if (ExecError.is(error, 'SPAWN_FAILED')) return { code: ErrorCode.internal, message: error.message }
  if (ExecError.is(error, 'STDIN_FULL')) return { code: ErrorCode.invalidRequest, message: error.message }
  return { code: ErrorCode.internal, message: `internal error: ${(error as Error)?.message ?? error}` }
}
