import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { ProxyConnection } from './connection.ts'
import type { Decider, NetworkDecision } from './decision.ts'
import { HttpRefusal, refuse } from './http-answer.ts'
import { serveHttp } from './http-proxy.ts'
import { Incoming, IncomingError, type Parse } from './incoming.ts'
import { LIMITS, type ProxyLimits } from './limits.ts'
import { NetworkPolicy } from './network-policy.ts'
import { type Lookup, Resolver } from './resolver.ts'
import type { ProxyRules } from './rules.ts'
import { refuseSocks, serveSocks } from './socks-proxy.ts'

const MAX_BLOCKED = 200
/** Connections past the limit that are being told so. Those past this one are cut at once. */
const MAX_REFUSED = 32

export interface ProxyOptions {
  /** A descriptor that listens already, and is the proxy's from now on; or where to listen, any free port being 0. */
  readonly listener: { readonly fd: number } | { readonly host: string; readonly port: number }
  readonly rules: ProxyRules
  /** Without one, what no rule allows is blocked. */
  readonly decide?: Decider | undefined
  /** Hears of every decision, before anything is done about it. Must not throw. */
  readonly onDecision: (decision: NetworkDecision) => void
  readonly lookup?: Lookup
  readonly limits?: Partial<ProxyLimits>
}

/** Opens the proxy of one execution. */
export async function openProxy(options: ProxyOptions): Promise<NetworkProxy> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true })
  const { listener } = options
  try {
    server.listen(listener)
    await once(server, 'listening')
  } catch (error) {
    if ('fd' in listener) closeSync(listener.fd)
    throw error
  }
  return new NetworkProxy(server, options)
}

/** Talks HTTP and SOCKS5 on one port, on behalf of one command. */
export class NetworkProxy {
  readonly port: number
  readonly #server: Server
  readonly #rules: ProxyRules
  readonly #limits: ProxyLimits
  readonly #policy: NetworkPolicy
  readonly #onDecision: (decision: NetworkDecision) => void
  readonly #clients = new Set<Socket>()
  readonly #blocked: NetworkDecision[] = []
  #closed: Promise<void> | undefined

  constructor(server: Server, { rules, decide, onDecision, lookup, limits }: ProxyOptions) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.#rules = rules
    this.#limits = { ...LIMITS, ...limits }
    this.#onDecision = onDecision
    this.#policy = new NetworkPolicy({
      rules,
      decide,
      decideMs: this.#limits.decideMs,
      resolver: new Resolver(lookup, this.#limits.lookupMs),
      onDecision: (decision) => this.#note(decision),
    })
    server.on('connection', (client) => this.#accept(client))
  }

  /** What was blocked, oldest first: the last 200. */
  blocked(): readonly NetworkDecision[] {
    return [...this.#blocked]
  }

  /** Cuts all connections. */
  close(): Promise<void> {
    this.#closed ??= this.#shut()
    return this.#closed
  }

  async #shut(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const client of this.#clients) client.destroy()
    await closed
  }

  #accept(client: Socket): void {
    // Clients that hang up are nothing to make a fuss about; what follows from it follows from `close`.
    client.on('error', () => {})
    const { connections } = this.#limits
    if (this.#closed || this.#clients.size >= connections + MAX_REFUSED) {
      client.destroy()
      return
    }
    const tooMany = this.#clients.size >= connections
    const gone = new AbortController()
    this.#clients.add(client)
    client.once('close', () => {
      this.#clients.delete(client)
      gone.abort(new IncomingError('gone'))
    })
    if (tooMany) {
      refuse(client, new HttpRefusal(503, `this command has ${connections} connections to the network already`))
      return
    }
    void this.#serve({
      client,
      clientAddress: `${client.remoteAddress}:${client.remotePort}`,
      incoming: new Incoming(client, this.#limits.headMs),
      policy: this.#policy,
      limits: this.#limits,
      signal: gone.signal,
    })
  }

  async #serve(connection: ProxyConnection): Promise<void> {
    let first: number
    try {
      first = await connection.incoming.take(firstByte, 1)
    } catch {
      // It has come, and said nothing.
      connection.incoming.detach()
      connection.client.destroy()
      return
    }
    if (first !== 4 && first !== 5) await serveHttp(connection)
    else if (first === 5 && this.#rules.socks) await serveSocks(connection)
    else refuseSocks(connection, first)
  }

  #note(decision: NetworkDecision): void {
    if (decision.decision !== 'allow') {
      this.#blocked.push(decision)
      if (this.#blocked.length > MAX_BLOCKED) this.#blocked.shift()
    }
    this.#onDecision(decision)
  }
}

const firstByte: Parse<number> = (bytes) => (bytes.length > 0 ? { value: bytes[0]!, length: 0 } : undefined)
