import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { scratch, WALDO } from './scratch.ts'

export interface ExecutorOptions {
  readonly listen?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A real executor in a process of its own. */
export interface Executor extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** SIGKILL, and it is gone. */
  kill(): Promise<void>
}

/** What executors of these tests have in their environment: nothing that depends on who runs them. */
export function executorEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', LANG: 'C.UTF-8', ...extra }
}

export async function startExecutor(options: ExecutorOptions = {}): Promise<Executor> {
  const state = scratch()
  const args = ['serve', '--listen', options.listen ?? 'ws://127.0.0.1:0', '--state-dir', state.path]
  const child = spawn(WALDO, [...args, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: executorEnv(options.env),
    cwd: '/',
  })
  const url = await firstLine(child)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return {
    url,
    pid: child.pid!,
    kill,
    async [Symbol.asyncDispose]() {
      await kill()
      state[Symbol.dispose]()
    },
  }
}

/** What a server prints first, or an error with what it complains of. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let complaint = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    complaint = (complaint + bytes.toString()).slice(-2000)
  })
  for await (const line of createInterface({ input: child.stdout! })) {
    // From now on nobody reads it, and it must not wait for that.
    child.stdout!.resume()
    return line
  }
  throw new Error(`the server did not start: ${complaint}`)
}
