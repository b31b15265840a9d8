/** Resolves after a while. Rejects with the signal's reason as soon as there is one. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** The same promise, for somebody who may stop waiting: rejects with the signal's reason as soon as there is one. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Also when nobody waits any more: how it fails then is nobody's business, but must not be unhandled.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * A signal of our own that follows others. Not `AbortSignal.any`, which in Node 20 remembers every signal that was ever
 * derived from one that lives long. Release it when nobody needs it any more.
 */
export function linked(...signals: readonly (AbortSignal | undefined)[]) {
  const own = new AbortController()
  const undo = signals.map((signal) => {
    const follow = () => own.abort(signal!.reason)
    if (signal?.aborted) follow()
    else signal?.addEventListener('abort', follow, { once: true })
    return () => signal?.removeEventListener('abort', follow)
  })
  return {
    signal: own.signal,
    abort: (reason: unknown) => own.abort(reason),
    release: () => {
      for (const each of undo) each()
    },
  }
}
