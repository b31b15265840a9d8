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
  /** There is nobody to connect to, or not with these credentials. */
  | 'CONNECT_FAILED'
  /** The connection was lost before the answer came: whether it was done is not known. */
  | 'DISCONNECTED'
  /** The session could not be taken up again: its processes are lost to us. */
  | 'SESSION_LOST'
  /** The environment was closed. */
  | 'CLOSED'
  /** The executor does not have what this needs. */
  | 'UNSUPPORTED'
  /** The executor has nothing that could enforce a sandbox. What is missing, and what to do, is in the message. */
  | 'SANDBOX_UNAVAILABLE'
  /** A profile, or a limit, that cannot be enforced as it stands. */
  | 'SANDBOX_INVALID'
  /** The executor refused: what was asked for makes no sense there, or not now. */
  | 'REFUSED'
  /** The executor failed, or does not speak our language. */
  | 'INTERNAL'
  /** There is no input to write to, or nobody reads it any more. */
  | 'STDIN_CLOSED'
  /** What happened to the process between two moments is not kept any more. */
  | 'PROCESS_LOST'
  /** The request itself is wrong: its method, its URL, a header. */
  | 'HTTP_INVALID'
  /** The executor may not talk to that address. */
  | 'HTTP_DENIED'
  /** No answer, or not all of it. */
  | 'HTTP_FAILED'
  /** The environments that a file, a variable or a provider describes do not hold together. */
  | 'CONFIG_INVALID'
  /** An environment that nobody knows, one that was named twice, or a directory that is no path. */
  | 'SELECTION_INVALID'

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
