import { ExecError } from '@waldo/environment'

type Handler = (method: string, params: never) => void

/** Hands on notifications to whoever cares for what they are about. */
export class NotificationRoutes {
  readonly #handlers = new Map<string, Handler>()

  /** All about one thing, such as `process 7`, until the returned function is called. */
  route(key: string, handler: Handler): () => void {
    // The first must not go deaf because the executor is about to refuse a second of the same name.
    if (this.#handlers.has(key)) throw new ExecError('REFUSED', `${key} already exists`)
    this.#handlers.set(key, handler)
    return () => {
      if (this.#handlers.get(key) === handler) this.#handlers.delete(key)
    }
  }

  deliver(method: string, params: unknown): void {
    const key = keyOf(method, (params ?? {}) as Record<string, unknown>)
    if (key !== undefined) this.#handlers.get(key)?.(method, params as never)
  }

  clear(): void {
    this.#handlers.clear()
  }
}

function keyOf(method: string, { processId, requestId, watchId }: Record<string, unknown>): string | undefined {
  if (method.startsWith('process/')) return `process ${processId}`
  if (method === 'http/request/bodyDelta') return `http ${requestId}`
  if (method === 'fs/changed') return `watch ${watchId}`
  return undefined
}
