import type { CallOptions, ExitVerdict, ProcessEvent } from '@waldo/environment'

/** How a process ended. */
export type ProcessEnd = { readonly exitCode: number } & ExitVerdict

/** Where the events of one process come from. */
export interface EventSource {
  /** Every event after `after`, as it comes, up to `closed`. Whoever reads slowly is waited for. */
  events(after: number, options: CallOptions): AsyncIterable<ProcessEvent>
  /** Resolves with how it ended when the process has closed, whether or not somebody reads what it says. */
  ended(options: CallOptions): Promise<ProcessEnd>
}
