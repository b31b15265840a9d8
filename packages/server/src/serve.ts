import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { defaultLogOptions, environmentInfo, LogStore, ProcessHost, SpillDirectory } from '@waldo/local'
import type { Capabilities, EnvironmentInfo } from '@waldo/protocol'
import { Connection } from './connection.ts'
import type { Authenticator } from './listeners/authentication.ts'
import { isLoopback, type ListenAddress } from './listeners/listen-address.ts'
import { serveStdio } from './listeners/stdio-listener.ts'
import { listenForWebSockets, type WebSocketListener } from './listeners/websocket-listener.ts'
import { SessionRegistry } from './session-registry.ts'
import { CloseCode, type Wire } from './wire.ts'

const TICK_MS = 1000
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
}

export interface ServeOptions {
  readonly listen: readonly ListenAddress[]
  readonly authenticate: Authenticator | undefined
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** Allow anybody who can reach a port that is not on loopback. */
  readonly insecure: boolean
  readonly stateDir: string
  readonly detachedTtlMs: number
  readonly receiptTtlMs: number
  readonly logQuotaBytes: number
  readonly logDiskBytes: number
  readonly version: string
  readonly warn: (message: string) => void
}

/** A reason not to serve, in words for whoever typed the command. */
export class ServeError extends Error {
  override readonly name = 'ServeError'
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
    for (const address of options.listen) if (address.kind !== 'stdio') await executor.listen(address)
  } catch (error) {
    await executor.stop(0)
    throw error
  }
  const stdio = options.listen.some(({ kind }) => kind === 'stdio')
  return {
    urls: executor.urls,
    stdioEnded: stdio ? serveStdio((wire) => executor.connect(wire, true)) : new Promise(() => {}),
    stop: (graceMs) => executor.stop(graceMs),
  }
}

class Executor {
  readonly urls: string[] = []
  readonly #options: ServeOptions
  readonly #spill: SpillDirectory
  readonly #host: ProcessHost
  readonly #sessions: SessionRegistry
  readonly #connections = new Set<Connection>()
  readonly #listeners: WebSocketListener[] = []
  readonly #sockets: string[] = []
  #ticker: ReturnType<typeof setInterval> | undefined
  #info: EnvironmentInfo | undefined

  constructor(options: ServeOptions) {
    this.#options = options
    this.#spill = new SpillDirectory(options.stateDir)
    this.#host = new ProcessHost(
      new LogStore({
        ...defaultLogOptions,
        quotaBytes: options.logQuotaBytes,
        diskBytes: options.logDiskBytes,
        createSpillFile: () => this.#spill.create(),
        onLoss: (cause) => options.warn(`output is being dropped: ${(cause as Error).message}`),
      }),
    )
    this.#sessions = new SessionRegistry(this.#host, options)
    // Not before somebody can connect: it may take a while if much was left behind.
    setImmediate(() => void this.#spill.sweep())
  }

  async listen(address: Exclude<ListenAddress, { kind: 'stdio' }>): Promise<void> {
    const { authenticate, tls } = this.#options
    const common = { authenticate, connect: (wire: Wire) => this.connect(wire, false) }
    if (address.kind === 'unix') {
      await removeStaleSocket(address.path)
      // Nobody else's from the first moment on; the mode is set again in case the umask is not honoured.
      const umask = process.umask(0o177)
      try {
        this.#listeners.push(
          attempt(address.path, () => listenForWebSockets({ ...common, at: { unix: address.path }, tls: undefined })),
        )
      } finally {
        process.umask(umask)
      }
      chmodSync(address.path, 0o600)
      this.#sockets.push(address.path)
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
      environmentInfo: () => {
        this.#info ??= environmentInfo(this.#options.version, CAPABILITIES)
        return this.#info
      },
      endsSession,
      onClosed: () => {
        this.#connections.delete(connection)
        if (this.#connections.size > 0) return
        clearInterval(this.#ticker)
        this.#ticker = undefined
      },
    })
    this.#connections.add(connection)
    this.#ticker ??= setInterval(() => {
      for (const each of this.#connections) each.tick()
    }, TICK_MS)
    return connection
  }

  async stop(graceMs: number): Promise<void> {
    for (const listener of this.#listeners) listener.stop()
    for (const connection of this.#connections) connection.close(CloseCode.goingAway, 'the executor is shutting down')
    await this.#host.close(graceMs)
    const deadline = performance.now() + GOODBYE_MS
    while (this.#connections.size > 0 && performance.now() < deadline) await Bun.sleep(5)
    for (const connection of this.#connections) connection.evict()
    this.#sessions.close()
    clearInterval(this.#ticker)
    for (const path of this.#sockets) removeIfThere(path)
    await this.#spill.remove()
  }
}

/** Whoever can connect can run commands. */
function checkExposure({ listen, authenticate, insecure }: ServeOptions): void {
  for (const address of listen) {
    if (address.kind !== 'tcp') continue
    if (isLoopback(address.host) || authenticate || insecure) continue
    throw new ServeError(
      `refusing to listen on ${address.url}: anybody who reaches it could run commands here. ` +
        'Ask for a token with --ws-auth, listen on 127.0.0.1, or say --insecure if something else protects this port',
    )
  }
}

function attempt<T>(where: string, listen: () => T): T {
  try {
    return listen()
  } catch (cause) {
    throw new ServeError(`cannot listen on ${where}: ${(cause as Error).message}`, { cause })
  }
}

/** A socket file stays behind when its server is killed. One that somebody answers on is theirs. */
async function removeStaleSocket(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (!there) return
  if (!there.isSocket()) throw new ServeError(`cannot listen on ${path}: the file exists and is no socket`)
  const answered = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
  if (answered) throw new ServeError(`cannot listen on ${path}: another server is listening there`)
  removeIfThere(path)
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
