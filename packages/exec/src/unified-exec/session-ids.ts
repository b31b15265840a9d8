const FIRST = 1000
const END = 100_000

/** Where the numbers of sessions come from. `isTaken` says which must not come now. */
export type IdSource = (isTaken: (id: number) => boolean) => number

/** Numbers that say nothing, so that a model does not guess them. */
export const randomIds: IdSource = (isTaken) => {
  for (;;) {
    const id = FIRST + Math.floor(Math.random() * (END - FIRST))
    if (!isTaken(id)) return id
  }
}

/** A number belongs to a call from before it is approved until its process is forgotten: no two ever share one. */
export class SessionIds {
  readonly #source: IdSource
  readonly #reserved = new Set<number>()

  constructor(source: IdSource) {
    this.#source = source
  }

  reserve(): number {
    const id = this.#source((id) => this.#reserved.has(id))
    this.#reserved.add(id)
    return id
  }

  release(id: number): void {
    this.#reserved.delete(id)
  }
}
