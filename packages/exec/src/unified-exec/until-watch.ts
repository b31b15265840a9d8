import type { ProcessLog } from '../output/log/process-log.ts'
import type { Until } from './until.ts'

/** Of what came before the wait. An answer does not show more either. */
const MAX_PAST_BYTES = 1024 * 1024

/** Looks through output, as it comes, for what a call waits for. */
export class UntilWatch {
  readonly #until: Until | undefined

  constructor(until: Until | undefined) {
    this.#until = until
  }

  /** Whether it is in what was said from this offset on: otherwise what comes right before the wait would be missed. */
  sees(log: ProcessLog, since: number): boolean {
    if (this.#until?.kind === 'output') return log.totalBytes > since
    if (this.#until?.kind !== 'match') return false
    return this.push(log.bytesFrom(Math.max(since, log.totalBytes - MAX_PAST_BYTES)))
  }

  /** Whether it has come with this. */
  push(data: Uint8Array): boolean {
    if (this.#until?.kind === 'output') return data.length > 0
    if (this.#until?.kind !== 'match') return false
    this.#until.hasCome = this.#until.search.feed(data)
    return this.#until.hasCome
  }

  /** Whether it has come if no more of the line comes, as after a prompt. */
  get mayHaveCome(): boolean {
    return this.#until?.kind === 'match' && this.#until.search.matchesIfLineEnds
  }

  /** What was said counts as it stands: nobody waits for more. */
  end(): void {
    if (this.#until?.kind === 'match') this.#until.hasCome = this.#until.search.end()
  }
}
