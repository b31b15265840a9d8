import type { ProcessHost, SpillDirectory } from '@waldo/local'
import type { Services } from './connection-services.ts'
import { HelperPool } from './files/helper-pool.ts'
import type { SandboxedFiles } from './files/sandboxed-files.ts'
import { isLoopback } from './listeners/listen-address.ts'
import type { ExecutorSandbox } from './sandbox/executor-sandbox.ts'
import type { SandboxedHelper } from './sandbox/sandboxed-helper.ts'
import type { ServeOptions } from './serve.ts'

type Http = ReturnType<Services['http']>

/**
 * Everything that works on this machine for the clients of one server. It is most of the program, and none of it is
 * needed to listen: each part is loaded with the first call that needs it.
 */
export class Machine {
  readonly #options: ServeOptions
  /** Looks after children of ours that nobody has asked for. */
  readonly #guard = (pid: number) => this.processes.host.guard(pid)
  #processes: { host: ProcessHost; spill: SpillDirectory } | undefined
  #services: Services | undefined
  #helpers: HelperPool | undefined
  #sandboxed: SandboxedFiles | undefined
  #sandboxedHelper: SandboxedHelper | undefined
  #http: Http | undefined
  #sandbox: ExecutorSandbox | undefined

  constructor(options: ServeOptions) {
    this.#options = options
  }

  get processes(): { host: ProcessHost; spill: SpillDirectory } {
    this.#processes ??= this.#loadProcesses()
    return this.#processes
  }

  get services(): Services {
    this.#services ??= this.#loadServices()
    return this.#services
  }

  get http(): Http {
    this.#http ??= this.#loadHttp()
    return this.#http
  }

  isFromSandbox(peerPort: number, ownPort: number): boolean {
    return this.#processes?.host.isFromSandbox(peerPort, ownPort) ?? false
  }

  get sandbox(): ExecutorSandbox {
    const { stateDir, program } = this.#options
    if (this.#sandbox) return this.#sandbox
    const { ExecutorSandbox } =
      require('./sandbox/executor-sandbox.ts') as typeof import('./sandbox/executor-sandbox.ts')
    this.#sandbox = new ExecutorSandbox({
      stateDir,
      hidden: this.#hidden(),
      namespaceMaker: [...program, 'namespace-maker'],
      guard: this.#guard,
    })
    return this.#sandbox
  }

  async close(graceMs: number): Promise<void> {
    this.#helpers?.close()
    this.#sandboxed?.close()
    this.#http?.client.close()
    await this.#processes?.host.close(graceMs)
    this.#sandbox?.close()
  }

  async removeFiles(): Promise<void> {
    await this.#processes?.spill.remove()
  }

  /** What is ours, and nobody's business who is in a sandbox. */
  #hidden(): string[] {
    const { stateDir, listen, secretFiles } = this.#options
    const sockets = listen.flatMap((address) => (address.kind === 'unix' ? [address.path] : []))
    return [stateDir, ...sockets, ...secretFiles]
  }

  #loadProcesses(): { host: ProcessHost; spill: SpillDirectory } {
    const { defaultLogOptions, LogStore, ProcessHost, SpillDirectory } =
      require('@waldo/local') as typeof import('@waldo/local')
    const { stateDir, logQuotaBytes, logDiskBytes, warn } = this.#options
    const spill = new SpillDirectory(stateDir)
    const logs = new LogStore({
      ...defaultLogOptions,
      quotaBytes: logQuotaBytes,
      diskBytes: logDiskBytes,
      createSpillFile: () => spill.create(),
      onLoss: (cause) => warn(`output is being dropped: ${(cause as Error).message}`),
    })
    return { host: new ProcessHost(logs, { alone: !this.#options.inProcess }), spill }
  }

  #loadServices(): Services {
    const files = require('@waldo/local/files') as typeof import('@waldo/local/files')
    const command = [...this.#options.program, 'file-helper']
    this.#helpers = new HelperPool({ launch: () => ({ argv: command }), guard: this.#guard })
    const { SandboxedFiles } = require('./files/sandboxed-files.ts') as typeof import('./files/sandboxed-files.ts')
    this.#sandboxed = new SandboxedFiles({
      sandbox: () => this.sandbox,
      helper: () => {
        const { SandboxedHelper } =
          require('./sandbox/sandboxed-helper.ts') as typeof import('./sandbox/sandboxed-helper.ts')
        this.#sandboxedHelper ??= new SandboxedHelper(this.sandbox, command)
        return this.#sandboxedHelper
      },
      guard: this.#guard,
    })
    return {
      files: {
        files,
        search: () => require('@waldo/local/search') as typeof import('@waldo/local/search'),
        watch: () => require('@waldo/local/watch') as typeof import('@waldo/local/watch'),
        mounts: new files.MountTable(),
        helpers: this.#helpers,
        sandboxed: this.#sandboxed,
        hidden: this.#hidden(),
      },
      http: () => this.http,
    }
  }

  #loadHttp(): Http {
    const local = require('@waldo/local/http') as typeof import('@waldo/local/http')
    const policy = new local.AddressPolicy({ ...this.#options.http, localAllowed: isLocal(this.#options) })
    return { client: new local.HttpClient({ policy }), local }
  }
}

/** Clients of this machine reach its loopback addresses anyway. For those from elsewhere we would be the door. */
function isLocal({ listen, http }: ServeOptions): boolean {
  return http.mode === 'allow' && listen.every((address) => address.kind !== 'tcp' || isLoopback(address.host))
}
