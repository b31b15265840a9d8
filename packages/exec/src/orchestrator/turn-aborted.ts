/** Somebody said stop: the turn is over, and the model gets no answer. */
export class TurnAborted extends Error {
  override readonly name = 'TurnAborted'

  constructor(message = 'the turn was stopped', options?: ErrorOptions) {
    super(message, options)
  }
}
