import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { type Account, become } from './account.ts'
import { isAlive } from './processes.ts'
import { within } from './within.ts'

const SCRIPT = join(import.meta.dir, 'host-process.py')
const ANSWER_MS = 5_000

/** A process of the host that has nothing to do with the server but its account. It tells who came to its sockets. */
export class HostProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #visits = new Set<string>()
  #awaited: { word: string; resolve: () => void; reject: (error: Error) => void } | undefined

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#lines = createInterface({ input: child.stdout! })
    this.#lines.on('line', (line) => {
      if (line.startsWith('visit ')) this.#visits.add(line.slice('visit '.length))
      if (line === this.#awaited?.word) this.#awaited.resolve()
    })
    this.#lines.once('close', () => this.#awaited?.reject(new Error('the host process ended')))
  }

  static async start(account: Account, directory: string, abstractName: string): Promise<HostProcess> {
    // The script is handed over as text: the account need not be able to read the checkout.
    const script = await Bun.file(SCRIPT).text()
    const argv = [...become(account), '/usr/bin/python3', '-ISc', script, directory, abstractName, 'sbx-host-canary']
    const child = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
    // A probe may have killed it: that is for `isAlive` to say.
    child.stdin.on('error', () => undefined)
    const started = new HostProcess(child)
    child.once('error', (error) => started.#awaited?.reject(error))
    await started.#hears('ready')
    return started
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Everybody who has come so far. */
  async visitors(): Promise<string[]> {
    if (!isAlive(this.pid)) return [...this.#visits, 'it was killed']
    const told = this.#hears('quiet')
    this.#child.stdin!.write('\n')
    await told
    return [...this.#visits]
  }

  #hears(word: string): Promise<void> {
    const heard = new Promise<void>((resolve, reject) => {
      this.#awaited = { word, resolve, reject }
    })
    return within(heard, ANSWER_MS, `hearing "${word}" from the host process`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    this.#lines.close()
  }
}
