import { createInterface, type Interface } from 'node:readline'
import type { ApprovalRequest, Approver } from '../approvals/approver.ts'
import { describeRequest } from '../approvals/describe-request.ts'
import { type OfferedAnswer, offeredAnswers } from '../approvals/offered-answers.ts'
import type { ReviewDecision } from '../approvals/review-decision.ts'

/** Nobody reads a question and answers it in that time: what comes meanwhile was typed before. */
const TYPED_AHEAD_MS = 50

/** `isTTY` and `columns` are what Node's streams say about terminals. */
export interface TerminalStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
}

/**
 * Asks whoever sits at the terminal, one question at a time. On the terminal of this process if nothing is said; without
 * one, it is for somebody else to decide.
 */
export class TerminalApprover implements Approver {
  readonly source = 'user'
  readonly #streams: TerminalStreams | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(streams?: TerminalStreams) {
    const { stdin, stderr } = process
    this.#streams = streams ?? (stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined)
  }

  async ask(request: ApprovalRequest, signal: AbortSignal): Promise<ReviewDecision | undefined> {
    const streams = this.#streams
    if (!streams) return undefined
    const turn = this.#last.then(async () => {
      // Whoever asked may have given up while others were asked.
      signal.throwIfAborted()
      // An input that ended with an earlier question does not end again.
      if (!streams.input.readable) return { kind: 'abort' } as const
      return new Prompt(streams, request).run(signal)
    })
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** One question on the screen. */
class Prompt {
  readonly #streams: TerminalStreams
  readonly #request: ApprovalRequest
  readonly #answers: readonly OfferedAnswer[]
  readonly #lines: Interface
  #isOver = false

  constructor(streams: TerminalStreams, request: ApprovalRequest) {
    const { input, output } = streams
    this.#streams = streams
    this.#request = request
    this.#answers = offeredAnswers(request)
    const terminal = input.isTTY === true && output.isTTY === true
    this.#lines = createInterface({ input, output, terminal, historySize: 0, prompt: '' })
  }

  run(signal: AbortSignal): Promise<ReviewDecision> {
    const lines = this.#lines
    const { output } = this.#streams
    return new Promise<ReviewDecision>((resolve, reject) => {
      const giveUp = () => {
        reject(signal.reason)
        output.write('\n(nobody waits for an answer any more)\n')
        lines.close()
      }
      const fail = (error: Error) => {
        reject(error)
        lines.close()
      }
      signal.addEventListener('abort', giveUp, { once: true })
      output.once('error', fail)
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => {
        this.#isOver = true
        signal.removeEventListener('abort', giveUp)
        output.removeListener('error', fail)
        // The end of the input and Ctrl-C are somebody who leaves. After an answer it is we who close: no news then.
        resolve({ kind: 'abort' })
      })
      this.#converse().then(resolve, reject)
    }).finally(() => lines.close())
  }

  async #converse(): Promise<ReviewDecision> {
    const { output } = this.#streams
    const columns = output.columns
    output.write(`\n${describeRequest(this.#request, columns ? { columns } : {})}`)
    await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS))
    if (this.#isOver) return { kind: 'abort' }
    // What was begun is no answer, either. Without a terminal it stays, and spoils the first one.
    if (this.#lines.terminal) this.#lines.write(null, { ctrl: true, name: 'u' })
    output.write(`${this.#answers.map(({ key, label }) => `[${key}] ${label}`).join('\n')}\n`)
    for (;;) {
      const said = (await this.#line('answer> ')).trim().toLowerCase()
      const answer = this.#answers.find(({ key }) => key === said)
      if (!answer) {
        output.write(`please type one of ${this.#answers.map(({ key }) => key).join(', ')}, and Enter\n`)
        continue
      }
      if (answer.decision.kind !== 'denied') return answer.decision
      const rejection = (await this.#line('why, for the model (or just Enter)> ')).trim()
      return rejection === '' ? answer.decision : { ...answer.decision, rejection }
    }
  }

  #line(prompt: string): Promise<string> {
    return new Promise((resolve) => {
      this.#lines.setPrompt(prompt)
      this.#lines.prompt()
      this.#lines.once('line', resolve)
    })
  }
}
