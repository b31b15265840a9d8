const brand = Symbol.for('waldo.ExecError')

export type ExecErrorCode =
  /** There is no process: the program or its directory is missing, or the system refused. */
  | 'SPAWN_FAILED'
  /** The process does not read, and too much is waiting for it already. */
  | 'STDIN_FULL'
  /** There is no such file, or no such handle. */
  | 'FILE_NOT_FOUND'
  /** What was asked for makes no sense on this file: it is a directory, too large, reached through a link. */
  | 'FILE_INVALID'
  /** The system does not let the executor do it. */
  | 'FILE_DENIED'
  /** Anything else that the system says: no space, already exists, a failing disk. */
  | 'FILE_FAILED'
  /** The request itself is wrong: its method, its URL, a header. */
  | 'HTTP_INVALID'
  /** The executor may not talk to that address. */
  | 'HTTP_DENIED'
  /** No answer, or not all of it. */
  | 'HTTP_FAILED'

/** A failure that the caller can act on. Match on `code`; `message` is for people. */
export class ExecError extends Error {
  override readonly name = 'ExecError'
  readonly [brand] = true
  readonly code: ExecErrorCode

  constructor(code: ExecErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Holds across two installed copies of this package, where `instanceof` does not. */
  static is(error: unknown, code?: ExecErrorCode): error is ExecError {
    return error instanceof Error && brand in error && (code === undefined || (error as ExecError).code === code)
  }
}
