/** Why the other side may not go on, and the code to close the connection with. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
  readonly closeCode: 1002 | 1007 | 1009

  constructor(closeCode: FrameError['closeCode'], message: string) {
    super(message)
    this.closeCode = closeCode
  }
}
