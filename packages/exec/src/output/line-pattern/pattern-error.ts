/** A pattern that is wrong, or that could not be searched for in bounded time. The message is for whoever wrote it. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}
