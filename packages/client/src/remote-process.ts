import {
  abortable,
  type CallOptions,
  ExecError,
  type OutputOptions,
  type Process,
  type ProcessEvent,
  type ProcessResult,
} from '@waldo/environment'
import type { Capabilities, OutputStream, ProcessListResult, ProcessWriteResult, TerminalSize } from '@waldo/protocol'
import { byteStream } from './byte-stream.ts'
import { encodeBase64 } from './encode-base64.ts'
import type { EventSource } from './event-source.ts'
import type { SessionCallOptions } from './exec-session.ts'

const WRITE_BYTES = 256 * 1024
const TEXT_BYTES = 1024 * 1024
/** How long leaving a scope may take while the executor cannot be reached. It is told as soon as it can. */
const DISPOSE_MS = 10_000

const UNKNOWN = { signal: null, bytes: { output: null, dropped: null } }

export interface RemoteProcessOptions {
  readonly id: string
  readonly argv: readonly string[]
  readonly source: EventSource
  /** Calls within the session that the process belongs to, and no other. */
  readonly call: (method: string, params: object, options: SessionCallOptions) => Promise<unknown>
  readonly capabilities: Capabilities
}

export class RemoteProcess implements Process {
  readonly id: string
  readonly argv: readonly string[]
  readonly #options: RemoteProcessOptions
  /** Writes take effect in the order of the calls, whatever happens to the wire. */
  #lastWrite: Promise<unknown> = Promise.resolve()

  constructor(options: RemoteProcessOptions) {
    this.id = options.id
    this.argv = options.argv
    this.#options = options
  }

  events({ after = 0, signal }: Omit<OutputOptions, 'stream'> = {}): AsyncIterable<ProcessEvent> {
    return this.#options.source.events(after, { signal })
  }

  output({ stream, ...options }: OutputOptions = {}): ReadableStream<Uint8Array> {
    return byteStream((signal) => outputOf(this.events({ ...options, signal }), stream), options.signal)
  }

  async text({
    maxBytes = TEXT_BYTES,
    ...options
  }: OutputOptions & { maxBytes?: number | undefined } = {}): Promise<string> {
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of streamParts(this.output(options))) {
      parts.push(part)
      length += part.length
      while (parts.length > 1 && length - parts[0]!.length >= maxBytes) length -= parts.shift()!.length
    }
    const all = new Uint8Array(length)
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return new TextDecoder().decode(all.subarray(Math.max(0, length - maxBytes)))
  }

  async write(data: string | Uint8Array, { signal }: CallOptions = {}): Promise<void> {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    const write = this.#lastWrite.then(async () => {
      for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
        signal?.throwIfAborted()
        await this.#writeOnce(bytes.subarray(at, at + WRITE_BYTES), signal)
      }
    })
    this.#lastWrite = write.catch(() => {}) // Whoever wrote it is told.
    await abortable(write, signal)
  }

  async closeStdin({ signal }: CallOptions = {}): Promise<void> {
    const close = this.#lastWrite.then(() => this.#call('process/closeStdin', {}, { signal, resend: true }))
    this.#lastWrite = close.catch(() => {})
    await abortable(close, signal)
  }

  async resize({ cols, rows }: TerminalSize, { signal }: CallOptions = {}): Promise<void> {
    await this.#call('process/resize', { cols, rows }, { signal, resend: true })
  }

  async signal(name: 'interrupt' | `SIG${string}`, { signal }: CallOptions = {}): Promise<void> {
    if (name !== 'interrupt') this.#need('processSignalNames', `send ${name}, only an interrupt`)
    await this.#call('process/signal', { signal: name }, { signal })
  }

  async terminate({ signal, graceMs }: CallOptions & { graceMs?: number | undefined } = {}): Promise<void> {
    if (graceMs !== undefined) this.#need('processTerminateGrace', 'end a process gently')
    await this.#call('process/terminate', graceMs === undefined ? {} : { graceMs }, { signal, resend: true })
  }

  async wait({ signal }: CallOptions = {}): Promise<ProcessResult> {
    try {
      const exit = await this.#options.source.ended({ signal })
      return { state: 'exited', ...exit, ...(await this.#summary(signal)) }
    } catch (error) {
      if (signal?.aborted || !ExecError.is(error)) throw error
      return { state: 'lost', exitCode: null, sandboxDenied: false, ...UNKNOWN, error }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.terminate().then(() => this.wait())
    const limit = AbortSignal.timeout(DISPOSE_MS)
    try {
      await abortable(ended, limit)
    } catch (error) {
      // It went with its session, or the executor cannot be reached.
      if (!limit.aborted && !ExecError.is(error)) throw error
    }
  }

  /** What the executor knows beyond the exit code, if it does. */
  async #summary(signal: AbortSignal | undefined): Promise<Pick<ProcessResult, 'signal' | 'bytes'>> {
    if (!this.#options.capabilities.processList) return UNKNOWN
    try {
      const { processes } = (await this.#call('process/list', {}, { signal, resend: true })) as ProcessListResult
      const own = processes.find(({ processId }) => processId === this.id)
      if (!own) return UNKNOWN
      return { signal: own.exit?.signal ?? null, bytes: { output: own.bytes.output, dropped: own.bytes.dropped } }
    } catch (error) {
      // The session was lost right after the exit, which we know.
      if (signal?.aborted || !ExecError.is(error)) throw error
      return UNKNOWN
    }
  }

  async #writeOnce(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    // The same id however often it is sent: it is written once.
    const params = { chunk: encodeBase64(bytes), writeId: crypto.randomUUID() }
    const { status } = (await this.#call('process/write', params, { signal, resend: true })) as ProcessWriteResult
    if (status === 'accepted') return
    if (status === 'unknownProcess')
      throw new ExecError('PROCESS_LOST', `the executor does not know ${this.id} any more`)
    throw new ExecError('STDIN_CLOSED', `cannot write to ${this.id}: it has no input, or does not read it any more`)
  }

  #need(capability: keyof Capabilities, what: string): void {
    if (this.#options.capabilities[capability]) return
    throw new ExecError('UNSUPPORTED', `this executor cannot ${what}`)
  }

  #call(method: string, params: object, options: SessionCallOptions): Promise<unknown> {
    return this.#options.call(method, { processId: this.id, ...params }, options)
  }
}

async function* outputOf(
  events: AsyncIterable<ProcessEvent>,
  stream: OutputStream | undefined,
): AsyncGenerator<Uint8Array, void> {
  for await (const event of events) {
    if (event.type !== 'output' || event.data.length === 0) continue
    if (stream === undefined || event.stream === stream) yield event.data
  }
}

async function* streamParts(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
