import { ExecError, type ExecErrorCode } from '@waldo/environment'
import { DecodeError, ErrorCode, ProtocolError } from '@waldo/protocol'

/** What is not listed is a failure of ours. */
const ERROR_CODES: Partial<Record<ExecErrorCode, ErrorCode>> = {
  STDIN_FULL: ErrorCode.invalidRequest,
  FILE_NOT_FOUND: ErrorCode.notFound,
  FILE_INVALID: ErrorCode.invalidRequest,
  FILE_DENIED: ErrorCode.invalidRequest,
  HTTP_INVALID: ErrorCode.invalidParams,
  HTTP_DENIED: ErrorCode.invalidRequest,
}

/** The only place where a failure gets its number. */
export function toWireError(error: unknown): { code: number; message: string; data?: object | undefined } {
  if (error instanceof ProtocolError) return error
  if (error instanceof DecodeError) return { code: ErrorCode.invalidParams, message: error.message }
  if (ExecError.is(error)) return { code: ERROR_CODES[error.code] ?? ErrorCode.internal, message: error.message }
  return { code: ErrorCode.internal, message: `internal error: ${(error as Error)?.message ?? error}` }
}
