import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url))

export interface ServerOptions {
  /** After `serve`. Without a `--listen` among them the server listens on a free port. */
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** The compiled file instead of the sources. */
  readonly executable?: string
  /** The number of somebody else to run it as. Needs root. */
  readonly user?: number
  /** Instead of a directory of its own, which goes with the server. */
  readonly stateDir?: string
}

/** A real server in a process of its own, with a state directory of its own. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** All lines of standard output, in the order of the listeners. */
  readonly urls: readonly string[]
  readonly pid: number
  readonly stateDir: string
  readonly exited: Promise<number>
  stderr(): string
  kill(signal: NodeJS.Signals): void
}

export function serverCommand(executable?: string): string[] {
  return executable ? [executable] : [process.execPath, '--no-env-file', MAIN]
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const stateDir = mkdtempSync(join(tmpdir(), 'waldo-state-'))
  const args = ['serve', '--state-dir', options.stateDir ?? stateDir, ...(options.args ?? [])]
  const { user } = options
  const become = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  const child = Bun.spawn([...become, ...serverCommand(options.executable), ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...options.env },
    cwd: options.cwd ?? '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  const collect = (bytes: Uint8Array) => {
    stderr += new TextDecoder().decode(bytes)
  }
  void child.stderr.pipeTo(new WritableStream({ write: collect }))
  const listeners = Math.max(1, args.filter((arg) => arg === '--listen').length)
  const urls = await firstLines(child.stdout, listeners)
  if (urls.length < listeners) {
    await child.exited
    rmSync(stateDir, { recursive: true, force: true })
    throw new Error(`the server did not start: ${stderr}`)
  }
  return {
    url: urls[0]!,
    urls,
    pid: child.pid,
    stateDir,
    exited: child.exited,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}

async function firstLines(stream: ReadableStream<Uint8Array>, count: number): Promise<string[]> {
  const reader = stream.getReader()
  let text = ''
  while (text.split('\n').length <= count) {
    const { done, value } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
  }
  return text.split('\n').slice(0, -1)
}
