import { ExecError, type ExecErrorCode } from '@waldo/environment'
import { ErrorCode } from '@waldo/protocol'
import { ConnectionClosedError, RemoteError } from '@waldo/rpc'

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
}
const ANYWHERE: Partial<Record<number, ExecErrorCode>> = {
  [ErrorCode.methodNotFound]: 'UNSUPPORTED',
  [ErrorCode.invalidRequest]: 'REFUSED',
  [ErrorCode.invalidParams]: 'REFUSED',
}

/** The only place where a number of the wire becomes an error of ours. */
export function fromWireError(error: unknown, method: string): unknown {
  if (error instanceof ConnectionClosedError) {
    return new ExecError('DISCONNECTED', `${method} was not answered: ${error.message}`, { cause: error })
  }
  if (!(error instanceof RemoteError)) return error
  const family = BY_FAMILY[method] ?? BY_FAMILY[method.split('/')[0]!]
  const code = family?.[error.code] ?? ANYWHERE[error.code] ?? 'INTERNAL'
  return new ExecError(code, error.message, { cause: error })
}
