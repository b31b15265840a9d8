import { canonicalJson } from './canonical-json.ts'

const MAX_KEYS = 10_000
/** Keys hold whole scripts. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** What was allowed until the conversation ends. What it forgets is asked about again. */
export class ApprovalCache {
  /** In the order in which they came. */
  readonly #texts = new Set<string>()
  #characters = 0

  /** At least one, and every one of them. */
  covers(keys: readonly unknown[]): boolean {
    return keys.length > 0 && keys.every((key) => this.#texts.has(canonicalJson(key)))
  }

  /** Each by itself: any of them may come alone, or in other company, later. */
  add(keys: readonly unknown[]): void {
    for (const key of keys) {
      const text = canonicalJson(key)
      if (text.length > MAX_CHARACTERS) continue
      this.#forget(text)
      this.#texts.add(text)
      this.#characters += text.length
      for (const oldest of this.#texts) {
        if (this.#texts.size <= MAX_KEYS && this.#characters <= MAX_CHARACTERS) break
        this.#forget(oldest)
      }
    }
  }

  #forget(text: string): void {
    if (this.#texts.delete(text)) this.#characters -= text.length
  }
}
