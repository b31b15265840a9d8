/**
 * Paths go to the sandbox as parameters, never as text of the profile: whatever they are made of, they are values and
 * not code.
 */
export class ProfileParameters {
  readonly #names = new Map<string, string>()

  /** The expression for this path. */
  reference(path: string): string {
    let name = this.#names.get(path)
    if (name === undefined) {
      name = `PATH_${this.#names.size}`
      this.#names.set(path, name)
    }
    return `(param "${name}")`
  }

  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#names].map(([path, name]) => [name, path]))
  }
}
