import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { serverCommand, startServer, type TestServer } from '../server.ts'
import { compare, type Entry, foldProcesses, match } from './compare.ts'
import { SECRET, TOKEN, vectorTokens } from './tokens.ts'
import { fill, type Json, type Vector } from './vector.ts'
import { startVectorOrigin, type VectorOrigin } from './vector-origin.ts'

/** What the server under test has in its environment. */
const SERVER_ENV = {
  LANG: 'C.UTF-8',
  VEC_FOO: 'foo',
  VEC_KEY: 'k',
  VEC_TOKEN: 't',
  VEC_EMPTY: '',
  VEC_HEADER: 'hdr',
  OPENAI_API_KEY: 'nope',
}
/** After the last step, for what should not come. */
const SETTLE_MS = 120
const WAIT_MS = 8000

/** Replays vectors against real servers, one for each set of flags. */
export class VectorRunner implements AsyncDisposable {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-vectors-')))
  readonly #servers = new Map<string, Promise<TestServer>>()
  #origin: VectorOrigin | undefined
  #count = 0

  constructor() {
    writeFileSync(join(this.#root, 'token'), `  ${TOKEN}\n`)
    writeFileSync(join(this.#root, 'secret'), SECRET)
  }

  /** How the server differs from what was recorded; undefined if it does not. */
  async run(vector: Vector): Promise<string | undefined> {
    const directory = join(this.#root, `v${this.#count++}`)
    mkdirSync(directory)
    for (const { dir, file, text, symlink, target } of vector.setup ?? []) {
      const at = join(directory, (dir ?? file ?? symlink)!)
      mkdirSync(dir ? at : dirname(at), { recursive: true })
      if (file) writeFileSync(at, text ?? '')
      if (symlink) symlinkSync(target!, at)
    }
    this.#origin ??= startVectorOrigin()
    const names = { ROOT: this.#root, TMP: directory, HTTP: this.#origin.url, ...vectorTokens() }
    if (vector.transport === 'cli') return this.#runCommands(vector, names)
    if (vector.transport === 'http') return this.#runRequests(vector, names)
    return this.#runMessages(vector, names)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.values()) await (await server)[Symbol.asyncDispose]()
    this.#origin?.stop()
    rmSync(this.#root, { recursive: true, force: true })
  }

  #server(args: string[]): Promise<TestServer> {
    const key = JSON.stringify(args)
    const server = this.#servers.get(key) ?? startServer({ args, env: SERVER_ENV, cwd: this.#root })
    this.#servers.set(key, server)
    return server
  }

  async #runCommands(vector: Vector, names: Record<string, string>): Promise<string | undefined> {
    const actual: Json[] = []
    for (const { args } of fill(vector.send, names)) {
      const child = Bun.spawn([...serverCommand(), 'serve', ...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: WAIT_MS,
      })
      const lines = (await child.stderr.text()).split('\n')
      actual.push({ $exit: await child.exited, error: lines.find((line) => /^error:/i.test(line)) ?? '' })
    }
    return match(vector.expect, actual, names, 'commands')
  }

  async #runRequests(vector: Vector, names: Record<string, string>): Promise<string | undefined> {
    const { url } = await this.#server(fill(vector.serverArgs ?? [], names))
    const actual: Json[] = []
    for (const step of fill(vector.send, names)) actual.push(await httpRequest(url.replace('ws', 'http'), step))
    return match(vector.expect, actual, names, 'responses')
  }

  async #runMessages(vector: Vector, names: Record<string, string>): Promise<string | undefined> {
    const args: string[] = fill(vector.serverArgs ?? [], names)
    const exchange = new Exchange(vector, names, async (name, receive) =>
      vector.transport === 'stdio'
        ? openStdio(name, receive, args, this.#root)
        : openWebSocket(name, receive, (await this.#server(args)).url),
    )
    try {
      await exchange.open('a')
      if (vector.handshake !== false) await exchange.shakeHands()
      for (const step of vector.send) await exchange.step(fill(step, names))
      return await exchange.judge()
    } finally {
      exchange.dropAll()
    }
  }
}

interface Connection {
  send(data: string | Uint8Array): void
  /** Ends it; what the server does about it is then no news. */
  close(): void
  drop(): void
  /** Of a server that runs for this connection alone. */
  exitCode?: Promise<number>
}

type Connect = (name: string, receive: (entry: Entry) => void) => Promise<Connection>

/** One vector under way: its connections, and what has happened on them. */
class Exchange {
  readonly #vector: Vector
  readonly #names: Record<string, string>
  readonly #connect: Connect
  readonly #connections = new Map<string, Connection>()
  readonly #entries: Entry[] = []
  readonly #ended = new Set<string>()
  readonly #started: [string, string][] = []
  /** To what the server asks. */
  readonly #answers = new Map<string, Json>()
  #current = 'a'

  constructor(vector: Vector, names: Record<string, string>, connect: Connect) {
    this.#vector = vector
    this.#names = names
    this.#connect = connect
  }

  async open(name: string): Promise<void> {
    this.#connections.set(name, await this.#connect(name, (entry) => this.#receive(entry)))
    this.#current = name
  }

  async shakeHands(): Promise<void> {
    this.#send({ id: 0, method: 'initialize', params: { clientName: 'replay' } })
    const reply = await this.#until(({ id }) => id === 0)
    this.#names.sessionId = reply.result.sessionId
    this.#send({ method: 'initialized', params: {} })
    this.#entries.length = 0
  }

  async step(step: Json): Promise<void> {
    const connection = this.#connections.get(this.#current)!
    if ('$raw' in step || '$binary' in step) {
      const before = this.#messages().length
      connection.send('$raw' in step ? step.$raw : Buffer.from(step.$binary, 'base64'))
      await this.#until(() => this.#messages().length > before, this.#vector.rawWaitMs ?? 1500)
    } else if ('$pipeline' in step) {
      for (const message of step.$pipeline) this.#send(message)
      for (const message of step.$pipeline) await this.#reply(message)
    } else if ('$answer' in step) {
      const { $answer, ...answer } = step
      this.#answers.set($answer, answer)
    } else if ('$sleep' in step) await Bun.sleep(step.$sleep)
    else if ('$open' in step) await this.open(step.$open)
    else if ('$use' in step) this.#current = step.$use
    else if ('$close' in step) await this.#end(step.$close, 'close')
    else if ('$drop' in step) await this.#end(step.$drop, 'drop')
    else if ('$end' in step) await this.#end(this.#current, 'close')
    else if ('$await' in step) await this.#until(({ method }) => method === step.$await.method)
    else if ('$writeFile' in step) writeFileSync(join(this.#names.TMP!, step.$writeFile), step.text ?? '')
    else if ('$unlink' in step) rmSync(join(this.#names.TMP!, step.$unlink))
    else if ('$awaitClosed' in step) await this.#untilClosed(this.#current, step.$awaitClosed)
    else {
      this.#send(step)
      await this.#reply(step)
    }
    for (const { message } of this.#entries) this.#names.sessionId ??= message?.result?.sessionId
    if (this.#names.sessionId === undefined) delete this.#names.sessionId
  }

  async judge(): Promise<string | undefined> {
    const { vector, names } = { vector: this.#vector, names: this.#names }
    if (!vector.leaveRunning) for (const [connection, id] of this.#started) await this.#untilClosed(connection, id)
    await Bun.sleep(vector.settleMs ?? SETTLE_MS)
    const actual = this.#entries.filter(({ closed, connection }) => !closed || !this.#ended.has(connection))
    if (vector.expectExit) {
      const code = await this.#connections.get('a')!.exitCode
      actual.push({ connection: 'a', message: { $exit: code } })
    }
    const expected: Entry[] = vector.expect.map((entry) => {
      if (entry.$closed !== undefined) return { connection: entry.$closed, closed: true }
      const { $on = 'a', ...message } = fill(entry, { TMP: names.TMP!, ROOT: names.ROOT! })
      return { connection: $on, message }
    })
    return compare(expected, vector.exact ? actual : foldProcesses(actual), names)
  }

  dropAll(): void {
    for (const connection of this.#connections.values()) connection.drop()
  }

  #receive(entry: Entry): void {
    this.#entries.push(entry)
    const { id, method } = entry.message ?? {}
    const answer = id === undefined ? undefined : this.#answers.get(method)
    if (answer) this.#connections.get(entry.connection)!.send(JSON.stringify({ id, ...answer }))
  }

  #send(message: Json): void {
    this.#connections.get(this.#current)!.send(JSON.stringify(message))
  }

  async #end(name: string, how: 'close' | 'drop'): Promise<void> {
    this.#ended.add(name)
    this.#connections.get(name)![how]()
    await Bun.sleep(150)
  }

  async #reply({ id, method, params }: Json): Promise<void> {
    if (id === undefined) return
    const reply = await this.#until((message) => message.id === id && !message.method)
    if (method === 'process/start' && reply?.result) this.#started.push([this.#current, params.processId])
  }

  async #untilClosed(connection: string, processId: string): Promise<void> {
    const closed = ({ method, params }: Json) => method === 'process/closed' && params.processId === processId
    await this.#until(closed, this.#vector.timeoutMs ?? WAIT_MS, connection)
  }

  #messages(connection = this.#current): Json[] {
    return this.#entries
      .filter((entry) => entry.connection === connection && entry.message)
      .map(({ message }) => message)
  }

  async #until(condition: (message: Json) => boolean, timeoutMs = WAIT_MS, connection = this.#current): Promise<Json> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const found = this.#messages(connection).find(condition)
      if (found || performance.now() > deadline) return found
      if (this.#entries.some((entry) => entry.connection === connection && entry.closed)) return undefined
      await Bun.sleep(2)
    }
  }
}

async function openWebSocket(name: string, receive: (entry: Entry) => void, url: string): Promise<Connection> {
  const socket = new WebSocket(url)
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error(`cannot connect to ${url}`))
  })
  socket.onmessage = ({ data }) => receive({ connection: name, message: JSON.parse(data as string) })
  socket.onclose = () => receive({ connection: name, closed: true })
  return { send: (data) => socket.send(data as string), close: () => socket.close(), drop: () => socket.terminate() }
}

function openStdio(name: string, receive: (entry: Entry) => void, args: string[], cwd: string): Connection {
  const command = [...serverCommand(), 'serve', '--listen', 'stdio', '--state-dir', join(cwd, 'state'), ...args]
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...SERVER_ENV }, stdio: ['pipe', 'pipe', 'ignore'] })
  const read = async () => {
    let text = ''
    for await (const bytes of child.stdout) {
      const lines = `${text}${Buffer.from(bytes).toString()}`.split('\n')
      text = lines.pop()!
      for (const line of lines) receive({ connection: name, message: JSON.parse(line) })
    }
  }
  void read()
  return {
    send(data) {
      child.stdin.write(typeof data === 'string' ? `${data}\n` : data)
      void child.stdin.flush()
    },
    close: () => void child.stdin.end(),
    drop: () => child.kill('SIGKILL'),
    exitCode: child.exited,
  }
}

function httpRequest(base: string, step: Json): Promise<Json> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  return new Promise((resolve) => {
    const options = { method: step.method ?? 'GET', headers: { ...step.headers, ...(step.upgrade && upgrade) } }
    const call = request(base + step.path, options, (response) => {
      let body = ''
      response.on('data', (data) => {
        body += data
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    call.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode, body: '' })
    })
    call.on('error', (error) => resolve({ error: error.message }))
    call.end()
  })
}
