import type { CallOptions, ProcessEvent } from '@waldo/environment'

/** Where the events of one process come from. */
export interface EventSource {
  /** Every event after `after`, as it comes, up to `closed`. Whoever reads slowly is waited for. */
  events(after: number, options: CallOptions): AsyncIterable<ProcessEvent>
  /** Resolves with how it ended when the process has closed, whether or not somebody reads what it says. */
  ended(options: CallOptions): Promise<{ exitCode: number; sandboxDenied: boolean }>
}
