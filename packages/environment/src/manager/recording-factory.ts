import type { Environment, EnvironmentStatus } from '../environment.ts'
import type { EnvironmentFactory, EnvironmentOptions } from './environment-factory.ts'
import type { EnvironmentTransport } from './environment-transport.ts'

/** For tests: environments that do nothing, and remember what was asked of them. */
export class RecordingFactory implements EnvironmentFactory {
  readonly created: RecordedEnvironment[] = []
  /** Ids whose creation fails. */
  readonly broken = new Set<string>()

  create(id: string, transport: EnvironmentTransport, options: EnvironmentOptions): RecordedEnvironment {
    if (this.broken.has(id)) throw new Error(`cannot create ${id}`)
    const environment = new RecordedEnvironment(id, transport, options)
    this.created.push(environment)
    return environment
  }
}

export class RecordedEnvironment implements Environment {
  readonly id: string
  readonly transport: EnvironmentTransport
  readonly options: EnvironmentOptions
  /** Which calls came, in their order. */
  readonly calls: string[] = []
  readonly processes = this.#record('processes') as unknown as Environment['processes']
  readonly files = this.#record('files') as unknown as Environment['files']
  readonly http = this.#record('http') as unknown as Environment['http']
  status: EnvironmentStatus = { state: 'idle' }
  /** What `ready` and `close` fail with. */
  failure: Error | undefined
  /** What `close` waits for. */
  held: Promise<void> | undefined
  /** What `files.writeStream` was given. */
  readonly written: Uint8Array[] = []
  readonly #listeners = new Set<(status: EnvironmentStatus) => void>()

  constructor(id: string, transport: EnvironmentTransport, options: EnvironmentOptions) {
    this.id = id
    this.transport = transport
    this.options = options
  }

  onStatus(listener: (status: EnvironmentStatus) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async ready(): Promise<void> {
    this.calls.push('ready')
    if (this.failure) throw this.failure
    this.#become({ state: 'ready' })
  }

  async info(): Promise<never> {
    this.calls.push('info')
    throw new Error('there is nothing to tell')
  }

  async sandboxInfo(): Promise<undefined> {
    this.calls.push('sandboxInfo')
  }

  async close(): Promise<void> {
    this.calls.push('close')
    await this.held
    if (this.failure) throw this.failure
    this.#become({ state: 'closed' })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #become(status: EnvironmentStatus): void {
    this.status = status
    for (const listener of this.#listeners) listener(status)
  }

  /** Every member is a function that returns its own name; streams are real. No `then`: it is not a promise. */
  #record(part: string): object {
    return new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : () => this.#answer(part, String(name))) })
  }

  #answer(part: string, name: string): unknown {
    const call = `${part}.${name}`
    this.calls.push(call)
    if (name === 'readStream') return new Blob([call]).stream()
    if (name === 'watch') return [call]
    if (name !== 'writeStream') return call
    return new WritableStream<Uint8Array>({
      write: (chunk) => void this.written.push(chunk),
      close: () => void this.calls.push('closed'),
      abort: () => void this.calls.push('aborted'),
    })
  }
}
