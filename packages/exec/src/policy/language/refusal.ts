import { shortened } from '../../output/shortened.ts'

/** Something in a rules file that cannot be taken, and where it begins. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** What a file says may be long, and is repeated in messages. */
export function excerpt(text: string, max = 60): string {
  return shortened(text, max)
}
