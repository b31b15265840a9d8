import type { RawClient } from './client.ts'

let nextRequest = 0

/** `fetch` as an agent would build it on an executor: every request goes through `http/request`, bodies streamed. */
export function fetchThrough(client: RawClient): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const requestId = `fetch-${++nextRequest}`
    const { signal } = init
    const cancel = () => void client.call('http/cancel', { requestId }).catch(() => {})
    signal?.addEventListener('abort', cancel, { once: true })
    const answer = await client.call('http/request', {
      requestId,
      method: init.method ?? 'GET',
      url: String(input),
      headers: [...new Headers(init.headers)].map(([name, value]) => ({ name, value })),
      bodyBase64: init.body ? Buffer.from(String(init.body)).toString('base64') : null,
      streamResponse: true,
    })
    signal?.throwIfAborted()
    const headers = new Headers(answer.headers.map(({ name, value }: { name: string; value: string }) => [name, value]))
    const hasBody = ![204, 205, 304].includes(answer.status)
    return new Response(hasBody ? bodyOf(client, requestId, signal ?? undefined) : null, {
      status: answer.status,
      headers,
    })
  }
}

function bodyOf(client: RawClient, requestId: string, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  let seq = 0
  return new ReadableStream({
    async pull(controller) {
      const next = () =>
        client.notifications.find(({ params }) => params.requestId === requestId && params.seq === seq + 1)
      await client.until(() => next() !== undefined || signal?.aborted === true, `body of ${requestId}`, 60_000)
      const delta = next()?.params
      if (!delta || delta.error !== null) return controller.error(new Error(delta?.error ?? 'aborted'))
      seq++
      if (delta.done) controller.close()
      else controller.enqueue(Buffer.from(delta.deltaBase64, 'base64'))
    },
    cancel: () => void client.call('http/cancel', { requestId }).catch(() => {}),
  })
}
