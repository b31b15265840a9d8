import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ExecError } from '@waldo/environment'
import { type Connect, LineSplitter, type Transport, type TransportEvents } from '@waldo/rpc'
import { deferred } from '../deferred.ts'

const MAX_LINE_BYTES = 64 * 1024 * 1024
/** Between the end of its input and SIGTERM, and between that and SIGKILL. */
const GRACE_MS = 2000
/** For what it said last to arrive, if somebody else holds its output after its end. */
const LINGER_MS = 500
/** Of what it says on standard error, in a message. */
const LAST_WORDS = 500

export interface CommandOptions {
  readonly program: string
  readonly args?: readonly string[] | undefined
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Told what it says on its standard error, line by line. */
  readonly onStderr?: ((line: string) => void) | undefined
}

/** Starts a server that talks on its standard input and output: here, over ssh, in a container. */
export function connectToCommand(options: CommandOptions): Connect {
  return async (events, signal) => {
    signal.throwIfAborted()
    const { program, args = [], env, cwd } = options
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: a Ctrl-C that is meant for us must not reach it, and all of it can be ended.
      detached: true,
      env: { ...process.env, ...env },
      ...(cwd !== undefined && { cwd }),
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) =>
        reject(new ExecError('CONNECT_FAILED', `cannot start ${program}: ${cause.message}`, { cause })),
      )
    })
    return new CommandTransport(child, events, options.onStderr)
  }
}

class CommandTransport implements Transport {
  readonly #child: ChildProcess
  readonly #events: TransportEvents
  readonly #gone = deferred<void>()
  #lastWords = ''
  #ended = false

  constructor(child: ChildProcess, events: TransportEvents, onStderr: CommandOptions['onStderr']) {
    this.#child = child
    this.#events = events
    const lines = new LineSplitter(MAX_LINE_BYTES)
    child.stdout!.on('data', (bytes: Uint8Array) => {
      if (this.#ended) return
      try {
        for (const line of lines.push(bytes)) events.received(line)
      } catch (error) {
        this.#end((error as Error).message)
        this.#kill('SIGKILL')
      }
    })
    child.stderr!.on('data', (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString('latin1')).slice(-LAST_WORDS)
    })
    if (onStderr) {
      const log = createInterface({ input: child.stderr!, crlfDelay: Number.POSITIVE_INFINITY })
      log.on('line', onStderr)
    }
    // Its end is told by `close`; what it does not read any more is lost with it.
    for (const stream of [child.stdin!, child.stdout!, child.stderr!]) stream.on('error', () => {})
    child.once('exit', () => setTimeout(() => this.#letGo(), LINGER_MS).unref())
    child.once('close', (code, signal) => {
      const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`
      const words = this.#lastWords.trim()
      this.#end(`the command ${how}${words === '' ? '' : `: ${words}`}`)
      this.#gone.resolve()
    })
  }

  get queuedBytes(): number {
    return this.#child.stdin!.writableLength
  }

  send(text: string): void {
    this.#child.stdin!.write(`${text}\n`)
  }

  pauseReading(): void {
    this.#child.stdout!.pause()
  }

  resumeReading(): void {
    this.#child.stdout!.resume()
  }

  /** A server ends with its input; one that does not is told to, then made to. */
  async close(): Promise<void> {
    this.resumeReading()
    this.#child.stdin!.end()
    const timers = [
      setTimeout(() => this.#kill('SIGTERM'), GRACE_MS),
      setTimeout(() => this.#kill('SIGKILL'), 2 * GRACE_MS),
    ]
    await this.#gone.promise
    for (const timer of timers) clearTimeout(timer)
  }

  #kill(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, signal)
    } catch {
      // It has ended.
    }
  }

  #letGo(): void {
    this.#child.stdout!.destroy()
    this.#child.stderr!.destroy()
  }

  #end(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#events.closed(reason)
  }
}
