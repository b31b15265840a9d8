import { limits } from '@waldo/protocol'
import { LineSplitter } from '@waldo/rpc'
import { CloseCode, joinParts, type TextParts, type Wire, type WireEvents } from '../wire.ts'

/** Serves one client on standard input and output, a message a line. Resolves when the client is gone. */
export async function serveStdio(connect: (wire: Wire) => WireEvents, warn: (message: string) => void): Promise<void> {
  const wire = new StdioWire(warn)
  const events = connect(wire)
  wire.onDrained = () => events.drained()
  const splitter = new LineSplitter(limits.messageBytes)
  const input = Bun.stdin.stream().getReader()
  void wire.ended.then(() => input.cancel()).catch(() => {})
  try {
    for (;;) {
      const { done, value } = await input.read()
      if (done) break
      for (const line of splitter.push(value)) {
        await wire.readable
        if (!wire.open) break
        events.received(line)
      }
    }
    const last = splitter.end()
    if (last !== undefined && wire.open) events.received(last)
  } catch (error) {
    // A line that is too long or not UTF-8: what follows cannot be trusted to start where a message starts.
    wire.close(CloseCode.protocolError, (error as Error).message)
  }
  await wire.flush()
  events.closed()
}

class StdioWire implements Wire {
  readonly canPing = false
  readonly peer = 'stdio'
  readonly name = 'stdio'
  readonly #sink = Bun.stdout.writer()
  readonly #warn: (message: string) => void
  readonly #ended = Promise.withResolvers<void>()
  #batching = false
  #pendingBytes = 0
  #flushing: Promise<unknown> | undefined
  #resume: (() => void) | undefined
  readable: Promise<void> | undefined
  open = true
  onDrained: () => void = () => {}

  constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get queuedBytes(): number {
    return this.#pendingBytes
  }

  send(text: string | TextParts): void {
    if (!this.open) return
    this.#sink.write(`${typeof text === 'string' ? text : joinParts(text)}\n`)
    this.#pendingBytes += text.length + 1
    if (!this.#batching) this.#flush()
  }

  ping(): void {}

  batch(sends: () => void): void {
    this.#batching = true
    sends()
    this.#batching = false
    this.#flush()
  }

  pauseReading(): void {
    this.readable ??= new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resumeReading(): void {
    this.#resume?.()
    this.readable = undefined
  }

  /** There is no way to say goodbye on a pipe but to end it. */
  close(code: number, reason: string): void {
    if (code !== CloseCode.normal && reason !== '') this.#warn(`closing stdio: ${reason}`)
    this.terminate()
  }

  terminate(): void {
    this.open = false
    this.resumeReading()
    this.#ended.resolve()
  }

  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  #flush(): void {
    // One at a time: what is sent meanwhile goes with the next.
    if (this.#flushing || this.#pendingBytes === 0 || !this.open) return
    const bytes = this.#pendingBytes
    const flushed = this.#sink.flush()
    if (!(flushed instanceof Promise)) {
      this.#pendingBytes = 0
      return
    }
    this.#flushing = flushed.then(
      () => {
        this.#flushing = undefined
        this.#pendingBytes -= bytes
        this.#flush()
        if (this.#pendingBytes === 0) this.onDrained()
      },
      () => {
        // The client has closed its end of our output.
        this.#flushing = undefined
        this.terminate()
      },
    )
  }
}
