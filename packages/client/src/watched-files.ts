import type { ExecError, WatchBatch } from '@waldo/environment'
import type { FsChanged, FsWatchResult, PathUri } from '@waldo/protocol'
import type { ExecSession } from './exec-session.ts'
import { abortable } from './sleep.ts'

/** Batches that wait for a reader. Beyond it they become one that says: look again. */
const MAX_BATCHES = 256

/** What happens below a path, also while the wire is cut, until the reader stops. */
export async function* watchFiles(
  session: ExecSession,
  target: { path: PathUri; recursive: boolean },
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchBatch> {
  const watchId = crypto.randomUUID()
  const batches: WatchBatch[] = []
  let wake: (() => void) | undefined
  let failure: ExecError | undefined
  let cursor: number | undefined
  const unroute = session.route(`watch ${watchId}`, (_, params: FsChanged) => {
    const { watchId: _id, ...batch } = params
    cursor = batch.cursor
    if (batches.length < MAX_BATCHES) batches.push(batch)
    else batches.splice(0, batches.length, { cursor, changes: [], overflow: true })
    wake?.()
  })
  const leave = session.join({
    async resumed({ peer }) {
      await peer.call('fs/watch', { ...target, watchId, cursor })
    },
    lost(error) {
      failure = error
      wake?.()
    },
  })
  try {
    const started = (await session.call('fs/watch', { ...target, watchId }, { signal })) as FsWatchResult
    cursor ??= started.cursor
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
    if (!failure) void session.call('fs/unwatch', { watchId }).catch(() => {})
  }
}
