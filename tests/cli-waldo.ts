import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, serverCommand } from '@waldo/testkit'

interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Somebody who uses the command line, with a home and a working directory of their own. */
export class Person implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'waldo-person-'))
  readonly configDir = join(this.directory, 'config')
  readonly env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: this.directory,
    WALDO_HOME: this.configDir,
    XDG_STATE_HOME: join(this.directory, 'state'),
    TERM: 'xterm',
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** Starts `waldo` on pipes. */
  spawn(args: string[], stdin: 'ignore' | 'pipe' | Blob = 'ignore') {
    const { env, directory: cwd } = this
    return Bun.spawn([...serverCommand(), ...args], { env, cwd, stdio: [stdin, 'pipe', 'pipe'] })
  }

  /** Runs `waldo` to its end. */
  async waldo(args: string[], input?: Uint8Array | string): Promise<Finished> {
    const child = this.spawn(args, input === undefined ? 'ignore' : new Blob([input as string]))
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { code, stdout, stderr }
  }

  /** Runs a script of the shell on pipes; `waldo` is what one types. */
  async shell(script: string): Promise<Finished> {
    const { env, directory: cwd } = this
    const child = Bun.spawn(['bash', '-c', withWaldo(script)], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { code, stdout, stderr }
  }

  /** Sits down at a terminal that runs such a script. */
  terminal(script: string): Screen {
    return new Screen(script, this)
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** A real terminal, and what has been written to it. */
class Screen implements AsyncDisposable {
  readonly #child: Bun.Subprocess
  text = ''

  constructor(script: string, { env, directory: cwd }: Person) {
    const decoder = new TextDecoder()
    const data = (_: unknown, bytes: Uint8Array) => {
      this.text += decoder.decode(bytes, { stream: true })
    }
    this.#child = Bun.spawn(['bash', '-c', withWaldo(script)], { env, cwd, terminal: { cols: 100, rows: 40, data } })
  }

  get exited(): Promise<number> {
    return this.#child.exited
  }

  type(keys: string): void {
    this.#child.terminal!.write(keys)
  }

  resize(cols: number, rows: number): void {
    this.#child.terminal!.resize(cols, rows)
  }

  async shows(text: string | RegExp): Promise<void> {
    const seen = () => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text))
    try {
      await eventually(seen, String(text))
    } catch (error) {
      throw new Error(`${(error as Error).message}; the screen shows ${JSON.stringify(this.text)}`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
    this.#child.terminal!.close()
  }
}

function withWaldo(script: string): string {
  const command = serverCommand().map((word) => `'${word}'`)
  return `waldo() { ${command.join(' ')} "$@"; }\n${script}`
}
