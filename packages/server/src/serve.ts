import { environmentInfo } from '@waldo/local/environment-info'
import { type Capabilities, type EnvironmentInfo, SHUTTING_DOWN } from '@waldo/protocol'
import { Connection } from './connection.ts'
import type { Authenticator } from './listeners/authentication.ts'
import { isLoopback, type ListenAddress } from './listeners/listen-address.ts'
import { ListenError } from './listeners/listen-error.ts'
import { serveStdio } from './listeners/stdio-listener.ts'
import { listenForWebSockets, type WebSocketListener } from './listeners/websocket-listener.ts'
import { Machine } from './machine.ts'
import { SessionRegistry } from './session-registry.ts'
import { CloseCode, type Wire } from './wire.ts'

const TICK_MS = 1000
/** What dead servers left behind can wait until the first clients have been served. */
const SWEEP_AFTER_MS = 200
/** How long clients have to take leave before their sockets are cut. */
const GOODBYE_MS = 200

const CAPABILITIES: Capabilities = {
  processResize: true,
  processCloseStdin: true,
  processList: true,
  processSignalNames: true,
  processTerminateGrace: true,
  processStartSize: true,
  sessionEnd: true,
  processPull: true,
  processWait: true,
  processStartToken: true,
  sessionRetention: true,
  fsWatchMissing: true,
  fileWriteStreaming: true,
  fsRename: true,
  fsAppend: true,
  fsSetMode: true,
  fsGlob: true,
  fsGrep: true,
  fsWatch: true,
  httpHeaderEnvVars: true,
  httpCancel: true,
  httpFlow: true,
}
/** What takes Linux. */
const SANDBOX_CAPABILITIES: Capabilities = {
  sandboxedFileStreaming: true,
  networkProxyLaunch: true,
  sandboxDenials: true,
  processLimits: true,
  sandboxInfo: true,
}

/** Which addresses `http/request` may reach. */
interface HttpAccess {
  readonly mode: 'allow' | 'deny'
  readonly allow: readonly string[]
}

export interface ServeOptions {
  readonly listen: readonly ListenAddress[]
  readonly authenticate: Authenticator | undefined
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** Allow anybody who can reach a port that is not on loopback. */
  readonly insecure: boolean
  /** The keys of this server, which are hidden from what runs in a sandbox. */
  readonly secretFiles: readonly string[]
  readonly stateDir: string
  readonly detachedTtlMs: number
  readonly receiptTtlMs: number
  readonly logQuotaBytes: number
  readonly logDiskBytes: number
  readonly http: HttpAccess
  /** What starts this program again, to be followed by what it is to do. */
  readonly program: readonly string[]
  /** Part of another program, which has children of its own. */
  readonly inProcess?: boolean
  readonly version: string
  readonly warn: (message: string) => void
}

export interface Server {
  /** Where it can be reached, in the order in which it was asked to listen; stdio has no address. */
  readonly urls: readonly string[]
  /** Resolves when the client on stdio is gone; never if there is none. */
  readonly stdioEnded: Promise<void>
  /** Takes no new clients, says goodbye to those that are there, and ends all processes. */
  stop(graceMs: number): Promise<void>
}

export async function serve(options: ServeOptions): Promise<Server> {
  checkExposure(options)
  const executor = new Executor(options)
  try {
    // Whoever wrote the list wants to know now what is wrong with it.
    if (options.http.allow.length > 0) executor.checkHttpAccess()
    for (const address of options.listen) if (address.kind !== 'stdio') await executor.listen(address)
  } catch (error) {
    await executor.stop(0)
    throw error
  }
  const stdio = options.listen.some(({ kind }) => kind === 'stdio')
  return {
    urls: executor.urls,
    stdioEnded: stdio ? serveStdio((wire) => executor.connect(wire, true), options.warn) : new Promise(() => {}),
    stop: (graceMs) => executor.stop(graceMs),
  }
}

/** What clients connect to, whichever way they come. */
export class Executor {
  readonly urls: string[] = []
  readonly #options: ServeOptions
  readonly #sessions: SessionRegistry
  readonly #connections = new Set<Connection>()
  readonly #listeners: WebSocketListener[] = []
  readonly #socketFiles: (() => void)[] = []
  readonly #sweep: ReturnType<typeof setTimeout>
  readonly #machine: Machine
  #ticker: ReturnType<typeof setInterval> | undefined
  #info: EnvironmentInfo | undefined

  constructor(options: ServeOptions) {
    this.#options = options
    this.#machine = new Machine(options)
    this.#sessions = new SessionRegistry(this.#machine, options)
    // Once somebody can connect, and before they need it.
    setImmediate(() => this.#environmentInfo())
    this.#sweep = setTimeout(() => this.#lookAround(), SWEEP_AFTER_MS)
  }

  /** What can wait until the first clients have been served. */
  #lookAround(): void {
    void this.#machine.processes.spill.sweep()
    // It takes some milliseconds, in which whoever we are a part of would wait.
    if (this.#options.inProcess) return
    const { available, reason, remedy } = this.#machine.sandbox.info
    if (!available) this.#options.warn(`no sandbox: ${reason}. ${remedy}`)
  }

  async listen(address: Exclude<ListenAddress, { kind: 'stdio' }>): Promise<void> {
    const { authenticate, tls } = this.#options
    const common = {
      authenticate,
      connect: (wire: Wire) => this.connect(wire, false),
      isFromSandbox: (peerPort: number, ownPort: number) => this.#machine.isFromSandbox(peerPort, ownPort),
    }
    if (address.kind === 'unix') {
      const { listenOnSocketFile } = await import('./listeners/socket-file.ts')
      const listen = () => listenForWebSockets({ ...common, at: { unix: address.path }, tls: undefined })
      const { listener, remove } = await listenOnSocketFile(address.path, () => attempt(address.path, listen))
      this.#listeners.push(listener)
      this.#socketFiles.push(remove)
      this.urls.push(`unix://${address.path}`)
      return
    }
    const listener = attempt(address.url, () => listenForWebSockets({ ...common, at: address, tls }))
    this.#listeners.push(listener)
    const host = address.host.includes(':') ? `[${address.host}]` : address.host
    this.urls.push(`${tls ? 'wss' : 'ws'}://${host}:${listener.port}`)
  }

  connect(wire: Wire, endsSession: boolean): Connection {
    const connection = new Connection(wire, {
      sessions: this.#sessions,
      services: () => this.#machine.services,
      environmentInfo: () => this.#environmentInfo(),
      sandboxInfo: () => this.#machine.sandbox.info,
      endsSession,
      // It is about to need it.
      onReady: () => setImmediate(() => this.#machine.processes),
      onClosed: () => {
        this.#connections.delete(connection)
        if (this.#connections.size > 0) return
        clearInterval(this.#ticker)
        this.#ticker = undefined
      },
    })
    this.#connections.add(connection)
    this.#ticker ??= setInterval(() => {
      for (const each of this.#connections) this.#tick(each)
    }, TICK_MS)
    return connection
  }

  /** What goes wrong with one connection is not the others' business. */
  #tick(connection: Connection): void {
    try {
      connection.tick()
    } catch (error) {
      this.#options.warn(`a connection failed: ${(error as Error).stack}`)
      connection.evict()
    }
  }

  #environmentInfo(): EnvironmentInfo {
    const { version, detachedTtlMs } = this.#options
    this.#info ??= {
      ...environmentInfo(version, { ...CAPABILITIES, ...(process.platform === 'linux' && SANDBOX_CAPABILITIES) }),
      detachedTtlMs: Number.isFinite(detachedTtlMs) ? detachedTtlMs : null,
    }
    return this.#info
  }

  async stop(graceMs: number): Promise<void> {
    for (const listener of this.#listeners) listener.stop()
    for (const connection of this.#connections) connection.close(CloseCode.goingAway, SHUTTING_DOWN)
    await this.#machine.close(graceMs)
    const deadline = performance.now() + GOODBYE_MS
    while (this.#connections.size > 0 && performance.now() < deadline) await Bun.sleep(5)
    for (const connection of this.#connections) connection.evict()
    this.#sessions.close()
    clearInterval(this.#ticker)
    clearTimeout(this.#sweep)
    for (const remove of this.#socketFiles) remove()
    await this.#machine.removeFiles()
  }

  checkHttpAccess(): void {
    try {
      void this.#machine.http
    } catch (cause) {
      throw new ListenError(`--http-allow: ${(cause as Error).message}`, { cause })
    }
  }
}

/** Whoever can connect can run commands. */
function checkExposure({ listen, authenticate, insecure }: ServeOptions): void {
  for (const address of listen) {
    if (address.kind !== 'tcp') continue
    if (isLoopback(address.host) || authenticate || insecure) continue
    throw new ListenError(
      `refusing to listen on ${address.url}: anybody who reaches it could run commands here. ` +
        'Ask for a token with --ws-auth, listen on 127.0.0.1, or say --insecure if something else protects this port',
    )
  }
}

/** What the system's codes mean to whoever started the server. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'somebody else is listening there already',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  EACCES: 'permission denied',
  ENOENT: 'the directory does not exist',
}

function attempt<T>(where: string, listen: () => T): T {
  try {
    return listen()
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new ListenError(`cannot listen on ${where}: ${REASONS[code] ?? message}`, { cause })
  }
}
