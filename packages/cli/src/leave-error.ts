/** Why we do not wait for a command any longer, and the code to leave with. */
export class LeaveError extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message = '') {
    super(message)
    this.exitCode = exitCode
  }
}
