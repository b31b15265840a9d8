/** How long one piece of work may keep everybody else waiting. */
const TURN_MS = 2

/** Lets others have their turn once in a while: `if (turns.over) await turns.next()`. */
export class Turns {
  #until = performance.now() + TURN_MS

  get over(): boolean {
    return performance.now() >= this.#until
  }

  async next(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#until = performance.now() + TURN_MS
  }
}
