import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NetworkDecision } from './decision.ts'
import { type NetworkProxy, openProxy, type ProxyOptions } from './network-proxy.ts'
import { proxyRules } from './rules.ts'

/** As a client sends it, with what a test changes. */
export function wireConfig(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    enabled: true,
    enableSocks5: true,
    enableSocks5Udp: true,
    allowUpstreamProxy: true,
    dangerouslyAllowAllUnixSockets: false,
    mode: 'full',
    domains: null,
    unixSockets: null,
    allowLocalBinding: false,
    ...changes,
  }
}

export interface TestProxy extends AsyncDisposable {
  readonly proxy: NetworkProxy
  readonly port: number
  readonly url: string
  readonly decisions: NetworkDecision[]
  /** Names that were looked up. */
  readonly lookups: string[]
}

/** `allowed.test` and `denied.test` both lead to this machine, which may be talked to: only the rules keep them apart. */
export const LOCAL_TEST = { allowLocalBinding: true, domains: { 'allowed.test': 'allow', 'denied.test': 'deny' } }

export async function testProxy(
  config: Record<string, unknown> = LOCAL_TEST,
  options: Partial<ProxyOptions> = {},
): Promise<TestProxy> {
  const decisions: NetworkDecision[] = []
  const lookups: string[] = []
  const { lookup = async () => ['127.0.0.1'], ...others } = options
  const proxy = await openProxy({
    listener: { host: '127.0.0.1', port: 0 },
    rules: proxyRules(wireConfig(config)),
    onDecision: (decision) => decisions.push(decision),
    lookup: (host) => {
      lookups.push(host)
      return lookup(host)
    },
    ...others,
  })
  return {
    proxy,
    port: proxy.port,
    url: `http://127.0.0.1:${proxy.port}`,
    decisions,
    lookups,
    [Symbol.asyncDispose]: () => proxy.close(),
  }
}

export interface Origin extends AsyncDisposable {
  readonly port: number
  readonly sockets: Set<Socket>
  /** What has come, in latin1, one text per connection. */
  readonly received: string[]
}

/** A server whose bytes a test writes. It answers when the head of a request has come, with `answer`. */
export async function origin(
  answer: string | ((socket: Socket, text: string) => void),
  host = '127.0.0.1',
): Promise<Origin> {
  const sockets = new Set<Socket>()
  const received: string[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    const nth = received.push('') - 1
    // Proxies that hang up are what many tests are about.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => socket.end())
    let answered = false
    socket.on('data', (bytes) => {
      received[nth] += bytes.toString('latin1')
      if (answered || !received[nth]!.includes('\r\n\r\n')) return
      answered = true
      if (typeof answer === 'string') socket.end(answer)
      else answer(socket, received[nth]!)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A whole response with a length. */
export function response(body: string, fields: readonly string[] = []): string {
  return ['HTTP/1.1 200 OK', ...fields, `content-length: ${body.length}`, '', body].join('\r\n')
}

export interface Curled {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function curl(...args: string[]): Promise<Curled> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
  const child = Bun.spawn(['curl', '-sS', '-m', '20', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

/** A connection whose bytes a test writes. */
export class RawClient implements Disposable {
  readonly socket: Socket
  received: Buffer = Buffer.alloc(0)
  ended = false
  #changed = Promise.withResolvers<void>()

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    this.socket.on('error', () => {})
    this.socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes])
      this.#change()
    })
    for (const event of ['end', 'close']) {
      this.socket.on(event, () => {
        this.ended = true
        this.#change()
      })
    }
  }

  /** Everything until the other side ends. */
  async rest(): Promise<string> {
    while (!this.ended) await this.#changed.promise
    return this.received.toString('latin1')
  }

  /** As soon as there are so many bytes. */
  async bytes(count: number): Promise<Buffer> {
    while (this.received.length < count && !this.ended) await this.#changed.promise
    return this.received
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/** Sends bytes, and returns all that comes back. */
export async function say(port: number, text: string | Buffer): Promise<string> {
  using client = new RawClient(port)
  client.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
  return await client.rest()
}

/** How many sockets we have open. */
export function sockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:')
    } catch {
      return false // It is the one that has read the directory.
    }
  }).length
}

export async function until(what: string, condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return
    await sleep(20)
  }
  assert.fail(`still not: ${what}`)
}
