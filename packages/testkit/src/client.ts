/** Whatever the server sends: tests say what they expect of it by reading it. */
type Answer = ReturnType<typeof JSON.parse>

interface Notification {
  readonly method: string
  readonly params: Answer
}

export interface WireError {
  readonly code: number
  readonly message: string
}

/** What a call was answered with when it failed. */
export class CallError extends Error {
  readonly code: number

  constructor(error: WireError) {
    super(error.message)
    this.code = error.code
  }
}

/** What a process has said so far, as the notifications told it. */
export interface Observed {
  readonly stdout: string
  readonly stderr: string
  readonly pty: string
  readonly exitCode: number | undefined
  readonly closed: boolean
  readonly droppedBytes: number
  /** In the order of arrival. */
  readonly seqs: number[]
}

/** The same, as it is collected. */
class Collected {
  readonly streams = { stdout: [] as Buffer[], stderr: [] as Buffer[], pty: [] as Buffer[] }
  readonly seqs: number[] = []
  exitCode: number | undefined
  closed = false
  droppedBytes = 0

  add({ method, params }: Notification): void {
    this.seqs.push(params.seq)
    if (method === 'process/output') {
      this.streams[params.stream as keyof Collected['streams']].push(Buffer.from(params.chunk, 'base64'))
      this.droppedBytes += params.droppedBytes ?? 0
    }
    if (method === 'process/exited') this.exitCode = params.exitCode
    if (method === 'process/closed') this.closed = true
  }
}

let nextProcess = 0

/** A client that does nothing by itself: it sends what it is told to and keeps what comes. */
export class RawClient implements AsyncDisposable {
  readonly #socket: WebSocket
  readonly #pending = new Map<unknown, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>()
  readonly #waiters = new Set<() => void>()
  readonly #processes = new Map<string, Collected>()
  #nextId = 1
  /** Those that are not about a process. */
  readonly notifications: Notification[] = []
  /** Messages that answer no call of ours. */
  readonly strays: Answer[] = []
  sessionId = ''
  closed: { code: number; reason: string } | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data as string))
    socket.onclose = ({ code, reason }) => {
      this.closed = { code, reason }
      for (const { reject } of this.#pending.values()) reject(new Error(`connection closed: ${code} ${reason}`))
      this.#pending.clear()
      this.#wake()
    }
  }

  /** Opens a connection and says nothing yet. */
  static async open(url: string, options: Bun.WebSocketOptions = {}): Promise<RawClient> {
    const target = url.startsWith('unix://') ? `ws+unix://${url.slice('unix://'.length)}` : url
    const socket = new WebSocket(target, options)
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve()
      socket.onerror = () => reject(new Error(`cannot connect to ${url}`))
    })
    return new RawClient(socket)
  }

  /** Opens a connection and shakes hands. */
  static async connect(url: string, options: { resume?: string } & Bun.WebSocketOptions = {}): Promise<RawClient> {
    const { resume, ...rest } = options
    const client = await RawClient.open(url, rest)
    await client.initialize(resume)
    return client
  }

  async initialize(resumeSessionId?: string): Promise<Answer> {
    const answer = await this.call('initialize', { clientName: 'test', resumeSessionId })
    this.sessionId = answer.sessionId
    this.notify('initialized', {})
    return answer
  }

  /** Rejects with a `CallError`. */
  call(method: string, params?: unknown): Promise<Answer> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.send(JSON.stringify({ id, method, params }))
    })
  }

  /** The error that the call was answered with. */
  async failure(method: string, params?: unknown): Promise<WireError> {
    try {
      const answer = await this.call(method, params)
      throw new Error(`${method} succeeded: ${JSON.stringify(answer)}`)
    } catch (error) {
      if (error instanceof CallError) return { code: error.code, message: error.message }
      throw error
    }
  }

  notify(method: string, params?: unknown): void {
    this.send(JSON.stringify({ method, params }))
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data as string)
  }

  /** Starts a process with everything filled in that a test does not care for; returns its id. */
  async start(argv: string[], more: Record<string, unknown> = {}): Promise<string> {
    const processId = `p${++nextProcess}`
    const defaults = { processId, argv, cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false }
    const answer = await this.call('process/start', { ...defaults, ...more })
    return answer.processId
  }

  /** Runs a shell script to its end. */
  async run(script: string, more: Record<string, unknown> = {}): Promise<Observed> {
    const id = await this.start(['/bin/sh', '-c', script], more)
    await this.untilClosed(id)
    return this.observed(id)
  }

  write(processId: string, text: string | Uint8Array, writeId = crypto.randomUUID() as string): Promise<Answer> {
    const chunk = Buffer.from(text as string).toString('base64')
    return this.call('process/write', { processId, chunk, writeId })
  }

  async untilClosed(processId: string): Promise<void> {
    await this.until(() => this.#collected(processId).closed, `${processId} to close`)
  }

  async untilOutput(processId: string, text: string): Promise<void> {
    const seen = () => {
      const { stdout, stderr, pty } = this.observed(processId)
      return `${stdout}${stderr}${pty}`.includes(text)
    }
    await this.until(seen, `${JSON.stringify(text)} from ${processId}`)
  }

  /** Waits for something to have come; fails if the connection ends first. */
  async until(condition: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!condition()) {
      const left = deadline - performance.now()
      if (this.closed || left <= 0) {
        throw new Error(`waited in vain for ${what}${this.closed ? `: closed ${this.closed.code}` : ''}`)
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          this.#waiters.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, Math.min(left, 1000))
        this.#waiters.add(wake)
      })
    }
  }

  async untilDisconnected(timeoutMs = 20_000): Promise<{ code: number; reason: string }> {
    const deadline = performance.now() + timeoutMs
    while (!this.closed) {
      if (performance.now() > deadline) throw new Error('the connection stays open')
      await Bun.sleep(5)
    }
    return this.closed
  }

  observed(processId: string): Observed {
    const { streams, ...rest } = this.#collected(processId)
    const text = (parts: Buffer[]) => Buffer.concat(parts).toString('latin1')
    return { stdout: text(streams.stdout), stderr: text(streams.stderr), pty: text(streams.pty), ...rest }
  }

  #collected(processId: string): Collected {
    const collected = this.#processes.get(processId) ?? new Collected()
    this.#processes.set(processId, collected)
    return collected
  }

  /** Takes nothing more from the socket. */
  pauseReading(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    this.#socket.resume()
  }

  /** Cuts the connection without a word. */
  drop(): void {
    this.#socket.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return
    this.drop()
    await this.untilDisconnected()
  }

  #receive(message: Answer): void {
    if (message.method?.startsWith('process/')) this.#collected(message.params.processId).add(message)
    else if (message.method !== undefined) this.notifications.push(message)
    else {
      const pending = this.#pending.get(message.id)
      this.#pending.delete(message.id)
      if (!pending) this.strays.push(message)
      else if (message.error) pending.reject(new CallError(message.error))
      else pending.resolve(message.result)
    }
    this.#wake()
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }
}
