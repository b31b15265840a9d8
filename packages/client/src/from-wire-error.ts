import { ExecError, type ExecErrorCode } from '@waldo/environment'
import { ErrorCode } from '@waldo/protocol'
import { CallLimitError, ConnectionClosedError, RemoteError } from '@waldo/rpc'

/** What a number means depends on what was asked for. */
const BY_FAMILY: Readonly<Record<string, Partial<Record<number, ExecErrorCode>>>> = {
  fs: {
    [ErrorCode.notFound]: 'FILE_NOT_FOUND',
    [ErrorCode.invalidRequest]: 'FILE_INVALID',
    [ErrorCode.invalidParams]: 'FILE_INVALID',
    [ErrorCode.internal]: 'FILE_FAILED',
  },
  http: {
    [ErrorCode.invalidParams]: 'HTTP_INVALID',
    [ErrorCode.invalidRequest]: 'HTTP_DENIED',
    [ErrorCode.internal]: 'HTTP_FAILED',
  },
  'process/start': { [ErrorCode.internal]: 'SPAWN_FAILED' },
  'process/write': { [ErrorCode.invalidRequest]: 'STDIN_FULL' },
}
const ANYWHERE: Partial<Record<number, ExecErrorCode>> = {
  [ErrorCode.methodNotFound]: 'UNSUPPORTED',
  [ErrorCode.invalidRequest]: 'REFUSED',
  [ErrorCode.invalidParams]: 'REFUSED',
}

/** What the system said is in the message, and tells more than the number of the wire: EPERM, EACCES, EROFS, ELOOP. */
const BY_ERRNO: Readonly<Record<string, ExecErrorCode>> = {
  1: 'FILE_DENIED',
  13: 'FILE_DENIED',
  30: 'FILE_DENIED',
  40: 'FILE_INVALID',
}

/** Executors of ours say of some refusals what kind they are, whatever was asked for. */
const BY_KIND: ReadonlyMap<unknown, ExecErrorCode> = new Map([
  ['sandboxUnavailable', 'SANDBOX_UNAVAILABLE'],
  ['sandboxUnenforceable', 'SANDBOX_INVALID'],
  ['sandboxInvalid', 'SANDBOX_INVALID'],
])

/** The only place where a number of the wire becomes an error of ours. */
export function fromWireError(error: unknown, method: string): unknown {
  if (error instanceof ConnectionClosedError) {
    return new ExecError('DISCONNECTED', `${method} was not answered: ${error.message}`, { cause: error })
  }
  if (error instanceof CallLimitError) return new ExecError('REFUSED', error.message, { cause: error })
  if (!(error instanceof RemoteError)) return error
  const [, errno = ''] = (method.startsWith('fs/') && /\(os error (\d+)\)/.exec(error.message)) || []
  const family = BY_FAMILY[method] ?? BY_FAMILY[method.split('/')[0]!]
  const { kind } = (error.data ?? {}) as { kind?: unknown }
  const code = BY_KIND.get(kind) ?? BY_ERRNO[errno] ?? family?.[error.code] ?? ANYWHERE[error.code] ?? 'INTERNAL'
  return new ExecError(code, error.message, { cause: error })
}
