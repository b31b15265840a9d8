import { LeaveError } from './leave-error.ts'

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Aborts with a `LeaveError` when somebody wants us to end. Once: whoever does not want to wait until everything is
 * cleaned up says so by a second one.
 */
export function leaveOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const [name, exitCode] of Object.entries(SIGNALS)) {
    process.once(name, () => stop.abort(new LeaveError(exitCode)))
  }
  return stop.signal
}
