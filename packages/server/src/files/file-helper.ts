import type { Guard } from '@waldo/local'
import { ErrorCode, limits, ProtocolError } from '@waldo/protocol'
import { LineSplitter } from '@waldo/rpc'

const GOODBYE_MS = 5000

export interface HelperOptions {
  readonly command: readonly string[]
  /** Whoever sees to it that the process with this id does not outlive us. */
  readonly guard: (pid: number) => Guard
}

type Answer = { id: number; result?: object; error?: { code: ErrorCode; message: string } }

/**
 * Another executor on stdio that only touches files. What may hang (a network file system) or run away (a regular
 * expression) happens there: at worst, that process is lost.
 */
export class FileHelper {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>
  readonly #pending = new Map<number, { resolve: (result: object) => void; reject: (error: Error) => void }>()
  readonly #guard: Guard
  #nextId = 1
  #alive = true
  readonly ended: Promise<void>

  constructor({ command, guard }: HelperOptions) {
    this.#child = Bun.spawn([...command], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    const guarded = guard(this.#child.pid)
    this.#guard = guarded
    void this.#child.exited.then(() => guarded.release())
    this.#send({ id: 0, method: 'initialize', params: { clientName: 'waldo' } })
    this.#send({ method: 'initialized', params: {} })
    this.ended = this.#listen()
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Calls that have not been answered yet. */
  get busy(): number {
    return this.#pending.size
  }

  call(method: string, params: unknown): Promise<object> {
    if (!this.#alive) return Promise.reject(lost())
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#send({ id, method, params })
    })
  }

  /** Lets it put its files in order first: what was not closed keeps its old content. */
  end(): void {
    this.#write((stdin) => stdin.end())
    const timer = setTimeout(() => this.kill(), GOODBYE_MS)
    void this.ended.then(() => clearTimeout(timer))
  }

  /** What it has started goes with it. A process that hangs in the system goes when it comes back. */
  kill(): void {
    this.#guard.kill()
  }

  #send(message: object): void {
    const line = `${JSON.stringify(message)}\n`
    this.#write((stdin) => stdin.write(line))
    this.#write((stdin) => stdin.flush())
  }

  /** A helper that has died does not take anything any more; those who wait are told by the end of its output. */
  #write(act: (stdin: Bun.FileSink) => unknown): void {
    try {
      void Promise.resolve(act(this.#child.stdin)).catch(() => {})
    } catch {
      // The same, sooner.
    }
  }

  async #listen(): Promise<void> {
    const splitter = new LineSplitter(limits.messageBytes)
    let cause: unknown
    try {
      for await (const bytes of this.#child.stdout) for (const line of splitter.push(bytes)) this.#receive(line)
    } catch (error) {
      cause = error // It does not speak our language; whoever waits for an answer is told.
    }
    this.#alive = false
    // It may have closed its output without ending.
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.kill()
    for (const { reject } of this.#pending.values()) reject(lost(cause))
    this.#pending.clear()
  }

  #receive(line: string): void {
    const { id, result, error } = JSON.parse(line) as Answer
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error) pending?.reject(new ProtocolError(error.code, error.message))
    else pending?.resolve(result!)
  }
}

function lost(cause?: unknown): ProtocolError {
  const reason = cause === undefined ? '' : ` (${(cause as Error).message})`
  return new ProtocolError(ErrorCode.internal, `the process that worked on these files has ended${reason}; try again`)
}
