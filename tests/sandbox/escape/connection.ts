import { CallError, RawClient } from '@waldo/testkit'
import { within } from './within.ts'

const CALL_MS = 10_000
const COMMAND_MS = 15_000

/** What a process has said so far. */
export type Observed = ReturnType<RawClient['observed']>

/** What a call came to. */
export interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string }
  readonly ms: number
}

/** A client that waits for nothing for ever, and lets nobody out: each question of the proxy gets a no. */
export class Connection implements AsyncDisposable {
  readonly raw: RawClient
  readonly capabilities: Readonly<Record<string, unknown>>

  private constructor(raw: RawClient, capabilities: Record<string, unknown>) {
    this.raw = raw
    this.capabilities = capabilities
    void this.#denyNetwork()
  }

  static async open(url: string): Promise<Connection> {
    const raw = await within(RawClient.open(url), CALL_MS, 'connecting')
    try {
      const { environmentInfo } = await within(raw.initialize(), CALL_MS, 'initialize')
      return new Connection(raw, environmentInfo?.capabilities ?? {})
    } catch (error) {
      await raw[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Fails only if there is no answer at all. */
  async call(method: string, params: unknown): Promise<Answer> {
    const began = performance.now()
    const took = () => performance.now() - began
    try {
      return { result: await within(this.raw.call(method, params), CALL_MS, method), ms: took() }
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      return { error: { code: error.code, message: error.message }, ms: took() }
    }
  }

  /** Runs a command to its end; one that does not end is killed. */
  async run(argv: readonly string[], more: Record<string, unknown>): Promise<Observed> {
    const id = await this.start(argv, more)
    await this.ended(id)
    await this.terminate(id)
    return this.raw.observed(id)
  }

  /** Rejects with a `CallError`. */
  start(argv: readonly string[], more: Record<string, unknown>): Promise<string> {
    return within(this.raw.start([...argv], more), CALL_MS, 'process/start')
  }

  /** Waits for the end of a process, for so long; says whether it came. */
  async ended(processId: string, limitMs = COMMAND_MS): Promise<boolean> {
    const closed = () => this.raw.observed(processId).closed
    await this.raw.until(closed, `${processId} to close`, limitMs).catch(() => undefined)
    return closed()
  }

  /** Whether or not it runs any more. */
  async terminate(processId: string): Promise<void> {
    if (!this.raw.closed) await this.call('process/terminate', { processId })
  }

  async #denyNetwork(): Promise<void> {
    for (let seen = 0; !this.raw.closed; ) {
      const news = () => this.raw.notifications.length > seen || this.raw.closed !== undefined
      await this.raw.until(news, 'something to happen', Number.POSITIVE_INFINITY).catch(() => undefined)
      for (const { method, id } of this.raw.notifications.slice(seen) as { method: string; id?: unknown }[]) {
        if (method === 'network/policyRequest') {
          this.raw.send(JSON.stringify({ id, result: { decision: { type: 'deny', reason: 'denied by the test' } } }))
        }
        seen += 1
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.raw[Symbol.asyncDispose]()
  }
}
