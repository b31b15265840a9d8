import type { LocalProcess } from '@waldo/local'
import { limits, type ProcessExit, type ProcessSummary, type ProcessWriteResult } from '@waldo/protocol'

/** What a client asked for, as far as anybody wants to see it again. */
export interface ProcessDescription {
  readonly processId: string
  readonly argv: readonly string[]
  readonly cwd: string
  readonly tty: boolean
  readonly startToken: string | undefined
  /** Whether what happens is sent as it happens. */
  readonly push: boolean
}

/** A process as its session knows it: under the client's id, with the writes it has accepted. */
export class HostedProcess {
  readonly description: ProcessDescription
  readonly process: LocalProcess
  readonly #writeIds = new Set<string>()
  #closedAtMs: number | undefined

  constructor(description: ProcessDescription, process: LocalProcess) {
    this.description = description
    this.process = process
    void process.closed.then(() => {
      this.#closedAtMs = performance.now()
      this.#writeIds.clear()
    })
  }

  /** Whether another process may have the same id now. */
  get idIsFree(): boolean {
    return this.#closedAtMs !== undefined && performance.now() - this.#closedAtMs > limits.processIdReuseMs
  }

  /** A write that is repeated after a lost connection is accepted again and done once. */
  write(bytes: Uint8Array, writeId: string, signal: AbortSignal): ProcessWriteResult | Promise<ProcessWriteResult> {
    if (this.#writeIds.has(writeId)) return { status: 'accepted' }
    const accepted = this.process.stdin?.write(bytes, signal) ?? false
    return accepted instanceof Promise
      ? accepted.then((later) => this.#answer(later, writeId))
      : this.#answer(accepted, writeId)
  }

  summary(): ProcessSummary {
    const { process, description } = this
    const { log } = process
    return {
      processId: description.processId,
      argv: [...description.argv],
      cwd: description.cwd,
      pid: process.pid,
      startedAtMs: process.startedAtMs,
      state: process.running ? 'running' : log.closedSeq === undefined ? 'exited' : 'closed',
      tty: description.tty,
      bytes: { output: log.outputBytes, dropped: log.droppedBytes, stdin: process.stdin?.writtenBytes ?? 0 },
      exit: log.exit ? receiptOf(log.exit) : null,
    }
  }

  #answer(accepted: boolean, writeId: string): ProcessWriteResult {
    if (!accepted) return { status: 'stdinClosed' }
    this.#writeIds.add(writeId)
    if (this.#writeIds.size > limits.writeIds) {
      const [oldest] = this.#writeIds
      this.#writeIds.delete(oldest!)
    }
    return { status: 'accepted' }
  }
}

/** Without its place in the log. */
function receiptOf({ seq: _seq, ...exit }: ProcessExit & { seq: number }): ProcessExit {
  return exit
}
