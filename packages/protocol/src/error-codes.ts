/** Clients branch on these numbers; the texts beside them are for people. */
export const ErrorCode = {
  /** Handshake order, malformed message, unknown or duplicate process, unknown session. */
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** The machine could not do it: spawn failures and most errors of the operating system. */
  internal: -32603,
  /** A file or handle that does not exist. */
  notFound: -32004,
  /** The session is attached to another connection, which is alive. */
  sessionAttached: -32010,
} as const

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

/** A failure that crosses the wire. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: ErrorCode
  /** For programs that want to know more. */
  readonly data: object | undefined

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { data?: object }) {
    super(message, options)
    this.code = code
    this.data = options?.data
  }
}
