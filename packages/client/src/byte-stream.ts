import { linked } from '@waldo/environment'

/**
 * A stream of what a generator yields, made as it is read. Whoever cancels the stream ends the generator, also while it
 * waits: it gets a signal for that.
 */
export function byteStream(
  generate: (signal: AbortSignal) => AsyncGenerator<Uint8Array, void>,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const waiting = linked(signal)
  const pieces = generate(waiting.signal)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        waiting.release()
      },
      async cancel(reason) {
        waiting.abort(reason)
        waiting.release()
        await pieces.return()
      },
    },
    // What is not read stays where it is.
    { highWaterMark: 0 },
  )
}
