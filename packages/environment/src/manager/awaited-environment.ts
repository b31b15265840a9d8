import type { EnvironmentInfo, SandboxInfo } from '@waldo/protocol'
import type { CallOptions, Environment, EnvironmentStatus } from '../environment.ts'
import { ExecError } from '../errors.ts'
import type { FileSystem } from '../file-system.ts'
import type { HttpClient } from '../http-client.ts'
import type { Processes } from '../processes.ts'
import { awaitedFiles, awaitedHttp, awaitedProcesses } from './awaited-parts.ts'

type Outcome = { readonly environment: Environment } | { readonly error: ExecError }

/** Stands in for an environment that is not there yet: every call waits for it, and is then passed on. */
export class AwaitedEnvironment implements Environment {
  readonly id: string
  readonly processes: Processes
  readonly files: FileSystem
  readonly http: HttpClient
  readonly #listeners = new Set<(status: EnvironmentStatus) => void>()
  readonly #waiting = new Set<() => void>()
  #outcome: Outcome | undefined
  #closing: Promise<void> | undefined

  constructor(id: string) {
    this.id = id
    const arrival = (signals: readonly (AbortSignal | null | undefined)[]) => this.#arrival(signals)
    this.processes = awaitedProcesses(arrival)
    this.files = awaitedFiles(arrival)
    this.http = awaitedHttp(arrival)
  }

  get status(): EnvironmentStatus {
    if (this.#closing) return { state: 'closed' }
    // Not idle: that would say that using it is all it takes.
    if (!this.#outcome) return { state: 'connecting' }
    if ('error' in this.#outcome) return { state: 'failed', error: this.#outcome.error }
    return this.#outcome.environment.status
  }

  onStatus(listener: (status: EnvironmentStatus) => void): () => void {
    // A function of its own, so that each can stop only itself.
    const own = (status: EnvironmentStatus) => listener(status)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  async ready(options?: CallOptions): Promise<void> {
    const environment = await this.#arrival([options?.signal])
    await environment.ready(options)
  }

  async info(options?: CallOptions): Promise<EnvironmentInfo> {
    const environment = await this.#arrival([options?.signal])
    return environment.info(options)
  }

  async sandboxInfo(options?: CallOptions): Promise<SandboxInfo | undefined> {
    const environment = await this.#arrival([options?.signal])
    return environment.sandboxInfo(options)
  }

  /** Called once, and neither after `fail` nor `close`; the latter throws, before anything is created. */
  arrive(create: () => Environment): void {
    this.#checkOpen()
    const environment = create()
    environment.onStatus((status) => {
      // While we close, what it tells is no news: `closed` was said.
      if (!this.#closing) this.#tell(status)
    })
    this.#settle({ environment })
  }

  fail(error: ExecError): void {
    this.#checkOpen()
    this.#settle({ error })
  }

  close(): Promise<void> {
    if (!this.#closing) {
      const outcome = this.#outcome
      // Not at once: what it tells while it closes must find us closed.
      this.#closing = Promise.resolve().then(async () => {
        if (outcome && 'environment' in outcome) await outcome.environment.close()
      })
      this.#wake()
      this.#tell(this.status)
    }
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #settle(outcome: Outcome): void {
    this.#outcome = outcome
    this.#wake()
    this.#tell(this.status)
  }

  /** Every wait ends here, by a report, by closing, or by a signal of the caller. */
  async #arrival(signals: readonly (AbortSignal | null | undefined)[]): Promise<Environment> {
    for (const signal of signals) signal?.throwIfAborted()
    if (!this.#outcome && !this.#closing) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake)
          for (const signal of signals) signal?.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiting.add(wake)
        for (const signal of signals) signal?.addEventListener('abort', wake)
      })
      for (const signal of signals) signal?.throwIfAborted()
    }
    this.#checkOpen()
    if ('error' in this.#outcome!) throw this.#outcome.error
    return this.#outcome!.environment
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #tell(status: EnvironmentStatus): void {
    for (const listener of [...this.#listeners]) listener(status)
  }

  #checkOpen(): void {
    if (this.#closing) throw new ExecError('CLOSED', `environment \`${this.id}\` was closed`)
  }
}
