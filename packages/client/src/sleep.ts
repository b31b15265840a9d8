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

/** The same promise, for somebody who may stop waiting. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * A signal of our own that follows somebody else's. Not `AbortSignal.any`, which in Node 20 remembers every signal that
 * was ever derived from one that lives long.
 */
export function linked(signal: AbortSignal | undefined) {
  const own = new AbortController()
  const follow = () => own.abort(signal!.reason)
  if (signal?.aborted) follow()
  else signal?.addEventListener('abort', follow, { once: true })
  return {
    signal: own.signal,
    abort: (reason: unknown) => own.abort(reason),
    release: () => signal?.removeEventListener('abort', follow),
  }
}
