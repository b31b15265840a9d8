import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Account, become } from './account.ts'
import { differences, factsOf } from './file-facts.ts'
import { HostProcess } from './host-process.ts'
import { uri } from './sandbox-context.ts'

const WORKSPACE = `
  mkdir -p out ws/secret ws/a/b ws/sub/prot
  git -c init.defaultBranch=main init -q --template= ws
  printf file > ws/f.txt
  printf 'TOPSECRET\\n' > ws/secret/key
  printf 'TOPSECRET\\n' > ws/a/b/prod.env
  printf 'good\\n' > ws/sub/prot/f
  printf 'keep\\n' > out/keep.txt
  mkfifo ws/fifo
  ln -s secret/key ws/presym
`

/**
 * A new workspace with a directory outside of it, and a process of the host with sockets. All of it belongs to the
 * account of the server, so that only the sandbox is in the way.
 */
export class Surroundings implements AsyncDisposable {
  readonly ws: string
  readonly out: string
  readonly abstractName: string
  readonly #account: Account
  readonly #base: string
  #host: HostProcess | undefined
  #before = new Map<string, string>()

  private constructor(base: string, account: Account) {
    this.#base = base
    this.#account = account
    this.ws = join(base, 'ws')
    this.out = join(base, 'out')
    this.abstractName = `sbx-abstract-${base.replaceAll('/', '-')}`
  }

  /** `prepare` is a shell script for what else is to be there, with `$WS` and `$OUT`. */
  static async create(base: string, account: Account, prepare = ''): Promise<Surroundings> {
    const made = new Surroundings(base, account)
    mkdirSync(base)
    chownSync(base, account.uid, account.gid)
    try {
      made.runOnHost(`${WORKSPACE}\n${prepare}`)
      made.#host = await HostProcess.start(account, made.out, made.abstractName)
      made.#before = made.#outside()
    } catch (error) {
      await made[Symbol.asyncDispose]()
      throw error
    }
    return made
  }

  get hostPid(): number {
    return this.#host!.pid
  }

  /** A shell script, run outside of any sandbox with the rights of the account. */
  runOnHost(script: string): void {
    const [program, ...args] = [...become(this.#account), 'sh', '-ec', script]
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      WS: this.ws,
      OUT: this.out,
      GIT_CONFIG_NOSYSTEM: '1',
      HOME: '/',
    }
    const { status, stderr } = spawnSync(program!, args, { cwd: this.#base, env, timeout: 10_000, encoding: 'utf8' })
    if (status !== 0) throw new Error(`the surroundings could not be made: ${stderr}`)
  }

  /** What has happened outside of the workspace, or to its `.git`, since it was made. */
  async traces(): Promise<string[]> {
    const visits = (await this.#host!.visitors()).map((visit) => `the host process was reached: ${visit}`)
    const changes = differences(this.#before, this.#outside()).slice(0, 3)
    return [...changes.map((change) => `outside of the workspace: ${change}`), ...visits]
  }

  /** Replaces the names that probes use by what they stand for. */
  fill<T>(value: T, more: Record<string, string | number> = {}): T {
    const names: Record<string, string | number> = {
      '${WS}': this.ws,
      '${OUT}': this.out,
      '${WS_URI}': uri(this.ws),
      '${OUT_URI}': uri(this.out),
      '${HOSTPID}': this.hostPid,
      'sbx-abstract': this.abstractName,
      ...more,
    }
    const filled = (part: unknown): unknown => {
      if (typeof part === 'string') {
        return Object.entries(names).reduce((text, [name, by]) => text.replaceAll(name, () => String(by)), part)
      }
      if (Array.isArray(part)) return part.map(filled)
      if (typeof part !== 'object' || part === null) return part
      return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, filled(inner)]))
    }
    return filled(value) as T
  }

  #outside(): Map<string, string> {
    const names = [dirname(this.#base), this.#base].flatMap((directory) =>
      readdirSync(directory).map((name) => [join(directory, name), ''] as const),
    )
    return new Map([...names, ...factsOf(this.out), ...factsOf(join(this.ws, '.git'))])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host?.[Symbol.asyncDispose]()
    rmSync(this.#base, { recursive: true, force: true })
  }
}
