import { eventually } from '@waldo/testkit'
import { type Account, become } from './account.ts'
import { commandLine, descendantsOf, isAlive, kill, namespaceOf } from './processes.ts'
import { within } from './within.ts'

const START_MS = 20_000
const STOP_MS = 5_000

export interface ProbedServerOptions {
  /** A shell command that prints its URL. */
  readonly command: string
  readonly account: Account
  readonly env: Record<string, string>
  readonly cwd: string
  /** Takes the place of /etc/hosts, for this server only. */
  readonly hostsFile: string
  /** It can make no namespace, and so no sandbox. */
  readonly withoutNamespaces?: boolean
  /** Redirections of a shell, such as `7</etc/hostname`: descriptors that it is started with. */
  readonly descriptors?: string
}

/** The server that is to be broken out of, in a process of its own, with the rights of an account. */
export class ProbedServer implements AsyncDisposable {
  readonly url: string
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly #log: { text: string }

  private constructor(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>, url: string, log: { text: string }) {
    this.#child = child
    this.url = url
    this.#log = log
  }

  static async start(options: ProbedServerOptions): Promise<ProbedServer> {
    const child = Bun.spawn(layers(options), {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log = { text: '' }
    void collect(child.stderr, log)
    try {
      const url = await within(firstUrl(child.stdout), START_MS, 'starting the server')
      return new ProbedServer(child, url, log)
    } catch (error) {
      child.kill('SIGKILL')
      await child.exited
      throw new Error(`the server did not start: ${log.text}`, { cause: error })
    }
  }

  /** Each layer takes the place of the one before: the process we started is the server. */
  get pid(): number {
    return this.#child.pid
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** How it ended, if it has. */
  get ending(): string | undefined {
    if (isAlive(this.pid)) return undefined
    const { signalCode, exitCode } = this.#child
    return `${signalCode ?? `exit code ${exitCode}`}: ${this.#log.text.slice(-400)}`
  }

  /** Ends it, and fails if it leaves anybody behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    const family = descendantsOf(this.pid)
    this.#child.kill('SIGTERM')
    const force = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await this.#child.exited
    clearTimeout(force)
    try {
      await eventually(() => !family.some(isAlive), 'the children of the server to end', STOP_MS)
    } catch (error) {
      const left = family.filter(isAlive)
      const lines = left.map(commandLine)
      for (const pid of left) kill(pid)
      throw new Error(`the server left processes behind: ${lines.join(', ')}`, { cause: error })
    }
  }
}

function layers({ command, account, hostsFile, withoutNamespaces, descriptors = '' }: ProbedServerOptions): string[] {
  const hosts = 'mount --bind "$0" /etc/hosts && exec "$@"'
  return [
    ...['unshare', '--mount', '--propagation=private', 'sh', '-c', hosts, hostsFile],
    ...become(account),
    ...(withoutNamespaces ? refuseNamespaces() : []),
    // `env` because the command may begin with variables.
    ...['sh', '-c', `exec env ${command} ${descriptors}`],
  ]
}

/**
 * The limits in /proc/sys/user are those of the user namespace of whoever writes them: in a new one they refuse all
 * further namespaces to the server and to nobody else. The first line keeps this from ever changing the host's.
 */
function refuseNamespaces(): string[] {
  const script = `
    [ "$(readlink /proc/self/ns/user)" != "$0" ] || exit 99
    for kind in user mnt pid net ipc; do echo 0 > /proc/sys/user/max_\${kind}_namespaces || exit 98; done
    exec setpriv --ambient-caps=-all --inh-caps=-all "$@"`
  return ['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c', script, namespaceOf('self', 'user')]
}

async function firstUrl(output: ReadableStream<Uint8Array>): Promise<string> {
  const said = { text: '' }
  const reader = output.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    said.text += new TextDecoder().decode(value)
    const [url] = /ws:\/\/[^\s"']+(?=\s)/.exec(said.text) ?? []
    if (url === undefined && !done) continue
    if (url === undefined) throw new Error(`it ended without printing a URL, but: ${said.text}`)
    reader.releaseLock()
    // Whoever nobody reads from stops at a full pipe.
    void collect(output, said)
    return url
  }
}

const KEPT = 64 * 1024

async function collect(stream: ReadableStream<Uint8Array>, into: { text: string }): Promise<void> {
  for await (const bytes of stream) into.text = (into.text + new TextDecoder().decode(bytes)).slice(-KEPT)
}
