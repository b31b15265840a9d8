/** A reason not to listen, in words for whoever typed the command. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}
