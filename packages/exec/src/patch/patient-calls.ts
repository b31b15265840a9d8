import { ExecError } from '@waldo/environment'

/** The environment waits by itself until it is connected again; this is how often it may be cut right after that. */
const MAX_CUTS = 8
const MAX_FAILURES = 3

/**
 * Makes a call again whenever the wire was cut before its answer. Such a second call may fail only because the first
 * one was carried out: `wasDone` says whether that is so.
 */
export async function throughCuts(
  call: () => Promise<unknown>,
  wasDone: () => Promise<boolean> = async () => false,
): Promise<void> {
  for (let cuts = 0; ; ) {
    try {
      await call()
      return
    } catch (error) {
      if (ExecError.is(error, 'DISCONNECTED')) {
        if (++cuts > MAX_CUTS) throw error
      } else {
        if (cuts > 0 && (await wasDone())) return
        throw error
      }
    }
  }
}

/** For what puts things in order again: a failure that passes must not be the reason for a mess. */
export async function stubbornly(call: () => Promise<unknown>): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await throughCuts(call)
      return
    } catch (error) {
      if (failures === MAX_FAILURES) throw error
    }
  }
}

/** All at once, and none is left running: the first failure is thrown when the last call has ended. */
export async function allAtOnce(calls: readonly (() => Promise<void>)[]): Promise<void> {
  const results = await Promise.allSettled(calls.map((call) => call()))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
