import type { EnvironmentStatus, ExecError } from '@waldo/environment'
import type { LiveConnection } from './live-connection.ts'

export interface Ready {
  readonly kind: 'ready'
  readonly live: LiveConnection
  readonly since: number
}

export type SessionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting'; readonly attempt: Promise<LiveConnection> }
  | Ready
  | {
      readonly kind: 'recovering'
      readonly attempt: Promise<LiveConnection>
      readonly since: Date
      readonly error: ExecError
    }
  | { readonly kind: 'failed'; readonly error: ExecError }
  | { readonly kind: 'closed' }

/** What others may know of it. */
export function statusOf(state: SessionState): EnvironmentStatus {
  switch (state.kind) {
    case 'recovering':
      return { state: 'recovering', since: state.since, error: state.error }
    case 'failed':
      return { state: 'failed', error: state.error }
    default:
      return { state: state.kind }
  }
}
