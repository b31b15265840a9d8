const brand = Symbol.for('waldo.PatchError')

export type PatchErrorCode =
  /** The text is not a patch, or too large for one. */
  | 'INVALID'
  /** It is one, but does not fit the files, or its parts do not fit together. Nothing was touched. */
  | 'MISMATCH'
  /** The files have changed since they were looked at. Nothing was touched. */
  | 'STALE'
  /** It could not be written. Everything is as it was before. */
  | 'FAILED'
  /** It could not be written, and not all of it be undone. The message says what is where. */
  | 'PARTIAL'

/** Why a patch was not applied. Match on `code`; `message` is for people and models, `cause` is what the system said. */
export class PatchError extends Error {
  override readonly name = 'PatchError'
  readonly [brand] = true
  readonly code: PatchErrorCode

  constructor(code: PatchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Holds across two installed copies of this package, where `instanceof` does not. */
  static is(error: unknown, code?: PatchErrorCode): error is PatchError {
    return error instanceof Error && brand in error && (code === undefined || (error as PatchError).code === code)
  }
}
