import assert from 'node:assert/strict'
import { CallError } from '@waldo/testkit'
import type { Bench } from './bench.ts'
import type { Answer, Connection, Observed } from './connection.ts'
import { textOf } from './expectations.ts'
import { type SandboxContext, type SandboxOptions, sandboxContext } from './sandbox-context.ts'
import type { Surroundings } from './surroundings.ts'

interface StartOptions extends Record<string, unknown> {
  readonly sandbox?: SandboxContext | undefined
}

/** What a test needs that is no probe: fresh surroundings, a connection, and a profile for everything it does. */
export class Trial implements AsyncDisposable {
  readonly bench: Bench
  readonly surroundings: Surroundings
  readonly connection: Connection
  readonly #profile: SandboxOptions

  private constructor(bench: Bench, surroundings: Surroundings, connection: Connection, profile: SandboxOptions) {
    this.bench = bench
    this.surroundings = surroundings
    this.connection = connection
    this.#profile = profile
  }

  static async open(bench: Bench, profile: SandboxOptions, prepare?: string): Promise<Trial> {
    const surroundings = await bench.surroundings(prepare)
    try {
      return new Trial(bench, surroundings, await bench.connect(), surroundings.fill(profile))
    } catch (error) {
      await surroundings[Symbol.asyncDispose]()
      throw error
    }
  }

  get ws(): string {
    return this.surroundings.ws
  }

  get out(): string {
    return this.surroundings.out
  }

  sandbox(): SandboxContext {
    return sandboxContext(this.#profile, this.ws)
  }

  /** Starts a command, or a shell script. Rejects with a `CallError`. */
  start(command: string | readonly string[], more: StartOptions = {}): Promise<string> {
    return this.connection.start(...this.#command(command, more))
  }

  /** The same to its end. */
  run(command: string | readonly string[], more: StartOptions = {}): Promise<Observed> {
    return this.connection.run(...this.#command(command, more))
  }

  #command(command: string | readonly string[], more: StartOptions): [readonly string[], StartOptions] {
    const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command
    return [argv, { ...this.bench.commandDefaults(this.surroundings), sandbox: this.sandbox(), ...more }]
  }

  /** What is said of a command that does not run: by the call, or by an exit code and a message. */
  async failureOf(argv: readonly string[], more: StartOptions = {}): Promise<string> {
    try {
      const { exitCode, stderr } = await this.run(argv, more)
      assert.notEqual(exitCode, 0)
      return `exit code ${exitCode}: ${stderr}`
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      return `${error.code} ${error.message}`
    }
  }

  call(method: string, params: Record<string, unknown>): Promise<Answer> {
    return this.connection.call(method, { sandbox: this.sandbox(), ...params })
  }

  /** An answer as text, bytes decoded: for what must not be in it. */
  async tell(method: string, params: Record<string, unknown>): Promise<string> {
    const { result, error } = await this.call(method, params)
    return error ? `${error.code} ${error.message}` : textOf(result)
  }

  /** Whatever was tried: nothing outside has changed, nobody has come, nobody is left, and the server still works. */
  async endsWell(): Promise<void> {
    const visits = this.bench.takeVisits().map((visit) => `the host was reached: ${visit}`)
    const survivors = this.bench.killSurvivors().map((line) => `left running: ${line}`)
    const reasons = [...(await this.surroundings.traces()), ...visits, ...survivors, ...(await this.bench.heal())]
    assert.deepEqual(reasons, [])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection[Symbol.asyncDispose]()
    await this.surroundings[Symbol.asyncDispose]()
  }
}
