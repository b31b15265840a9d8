/** The same promise, for somebody who may stop waiting: rejects with the reason of the signal as soon as there is one. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Also when nobody waits any more: how it fails then is nobody's business, but must not be unhandled.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
