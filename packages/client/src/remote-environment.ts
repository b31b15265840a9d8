import type { CallOptions, Environment, EnvironmentStatus, FileSystem, HttpClient, Processes } from '@waldo/environment'
import type { EnvironmentInfo, SandboxInfo } from '@waldo/protocol'
import { ExecSession, type SessionOptions } from './exec-session.ts'
import { RemoteFileSystem } from './remote-file-system.ts'
import { RemoteHttpClient } from './remote-http-client.ts'
import { RemoteProcesses } from './remote-processes.ts'

export interface RemoteEnvironmentOptions extends SessionOptions {
  readonly id: string
  /** Where processes start if nothing else is said; the executor's own directory otherwise. */
  readonly cwd?: string | undefined
}

/** An executor behind some transport. Making one opens nothing: it connects when it is first used. */
export class RemoteEnvironment implements Environment {
  readonly id: string
  readonly processes: Processes
  readonly files: FileSystem
  readonly http: HttpClient
  readonly #session: ExecSession

  constructor({ id, cwd, ...options }: RemoteEnvironmentOptions) {
    this.id = id
    this.#session = new ExecSession(options)
    this.processes = new RemoteProcesses(this.#session, cwd)
    this.files = new RemoteFileSystem(this.#session)
    this.http = new RemoteHttpClient(this.#session)
  }

  get status(): EnvironmentStatus {
    return this.#session.status
  }

  onStatus(listener: (status: EnvironmentStatus) => void): () => void {
    return this.#session.onStatus(listener)
  }

  async ready(options: CallOptions = {}): Promise<void> {
    await this.#session.live(options)
  }

  async info(options: CallOptions = {}): Promise<EnvironmentInfo> {
    return (await this.#session.live(options)).info
  }

  async sandboxInfo(options: CallOptions = {}): Promise<SandboxInfo | undefined> {
    const info = await this.info(options)
    if (!info.capabilities?.sandboxInfo) return undefined
    // It takes the executor a moment to find out, so the handshake does not wait for it.
    const all = await this.#session.call('environment/info', null, { ...options, resend: true })
    return (all as EnvironmentInfo).sandbox
  }

  async close(): Promise<void> {
    await this.#session.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
