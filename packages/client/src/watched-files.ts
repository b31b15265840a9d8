import { abortable, type WatchBatch } from '@waldo/environment'
import type { FsChanged, FsWatchResult, PathUri } from '@waldo/protocol'
import { RemoteError } from '@waldo/rpc'
import type { ExecSession } from './exec-session.ts'
import { fromWireError } from './from-wire-error.ts'

/** Batches that wait for a reader. Beyond it they become one that says: look again. */
const MAX_BATCHES = 256

/** What happens below a path, also while the wire is cut, until the reader stops. */
export async function* watchFiles(
  session: ExecSession,
  target: { path: PathUri; recursive: boolean },
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchBatch> {
  const { sessionId } = await session.live({ signal })
  const watchId = crypto.randomUUID()
  const batches: WatchBatch[] = []
  let wake: (() => void) | undefined
  let failure: unknown
  const fail = (error: unknown) => {
    failure = error
    wake?.()
  }
  let cursor: number | undefined
  const unroute = session.notifications.route(`watch ${watchId}`, (_, params: FsChanged) => {
    const { watchId: _id, ...batch } = params
    cursor = batch.cursor
    if (batches.length < MAX_BATCHES) batches.push(batch)
    else batches.splice(0, batches.length, { cursor, changes: [], overflow: true })
    wake?.()
  })
  const leave = session.join({
    async resumed({ peer }) {
      try {
        await peer.call('fs/watch', { ...target, watchId, cursor })
      } catch (error) {
        // The others of the session go on without this one.
        if (!(error instanceof RemoteError)) throw error
        fail(fromWireError(error, 'fs/watch'))
      }
    },
    lost: (error) => fail(error),
  })
  try {
    const started = session.call('fs/watch', { ...target, watchId }, { signal, resend: true })
    cursor ??= ((await started) as FsWatchResult).cursor
    for (;;) {
      const batch = batches.shift()
      if (batch) yield batch
      else if (failure) throw failure
      else {
        await abortable(
          new Promise<void>((resolve) => {
            wake = resolve
          }),
          signal,
        )
      }
    }
  } finally {
    unroute()
    leave()
    // The watch belongs to the session, and goes with it.
    if (!failure) void session.call('fs/unwatch', { watchId }, { sessionId, resend: true }).catch(() => {})
  }
}
