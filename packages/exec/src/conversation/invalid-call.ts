/** A call that cannot be answered as it stands. The text is for the model. */
export class InvalidCall extends Error {
  override readonly name = 'InvalidCall'
}
