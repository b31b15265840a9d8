import { encodeNotification } from '@waldo/rpc'

/** Questions to one client that are open at a time. */
const MAX_OPEN = 256
/** A client that has more than this to read is not told what it can do without. */
const MAX_UNREAD_BYTES = 1024 * 1024

interface Question {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export interface ClientLink {
  readonly queuedBytes: number
  send(text: string): void
}

/** What the executor asks its client. The numbers of these calls have nothing to do with those of the client's own. */
export class ClientCalls {
  readonly #link: ClientLink
  readonly #open = new Map<string, Question>()
  #lastId = 0
  #closed = false

  constructor(link: ClientLink) {
    this.#link = link
  }

  /** Rejects if there is no answer: the client refuses, leaves, or takes longer than the signal allows. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('the client is gone'))
    if (this.#open.size >= MAX_OPEN) return Promise.reject(new Error(`${MAX_OPEN} questions are open already`))
    const id = String(++this.#lastId)
    return new Promise((resolve, reject) => {
      const forget = () => {
        this.#open.delete(id)
        reject(new Error('nobody waits for the answer any more'))
      }
      const done = () => signal.removeEventListener('abort', forget)
      this.#open.set(id, {
        resolve: (result) => {
          done()
          resolve(result)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      })
      signal.addEventListener('abort', forget, { once: true })
      if (signal.aborted) forget()
      else this.#link.send(`{"id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`)
    })
  }

  /** Tells it something that it can do without. */
  mention(method: string, params: object): void {
    if (this.#closed || this.#link.queuedBytes > MAX_UNREAD_BYTES) return
    this.#link.send(encodeNotification(method, params))
  }

  /** False if nothing was ever asked under this id. */
  answered({ id, result, error }: { id: string; result?: unknown; error?: { message: string } }): boolean {
    const question = this.#open.get(id)
    this.#open.delete(id)
    if (error) question?.reject(new Error(error.message))
    else question?.resolve(result)
    // A late one is answered in vain.
    return question !== undefined || (/^\d+$/.test(id) && Number(id) >= 1 && Number(id) <= this.#lastId)
  }

  close(): void {
    this.#closed = true
    for (const { reject } of this.#open.values()) reject(new Error('the client is gone'))
    this.#open.clear()
  }
}
