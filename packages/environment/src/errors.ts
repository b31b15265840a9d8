const brand = Symbol.for('waldo.ExecError')

export type ExecErrorCode =
  /** There is no process: the program or its directory is missing, or the system refused. */
  | 'SPAWN_FAILED'
  /** The process does not read, and too much is waiting for it already. */
  | 'STDIN_FULL'

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
