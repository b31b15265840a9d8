import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { Connection } from './connection.ts'
import { installExecutable } from './executable.ts'
import { Origin } from './origin.ts'
import { ProbedServer, type ProbedServerOptions } from './probed-server.ts'
import { isAlive, killMarked } from './processes.ts'
import { Surroundings } from './surroundings.ts'

/** Another server than ours: a shell command that prints its URL. */
const OTHER_SERVER = process.env.WALDO_PROBE_SERVER

/** Not /tmp, which profiles allow. */
const LABS = '/var/tmp'
const LAB_NAME = /^waldo-probes-(\d+)-/

/**
 * A server of one account with everything around it that must stay as it is. One thing is tried at a time: what happens
 * then is its doing.
 */
export class Bench implements AsyncDisposable {
  readonly account: Account
  readonly isOwnServer = OTHER_SERVER === undefined
  /** In the environment of the server. */
  readonly secret = randomBytes(12).toString('hex')
  readonly #root: string
  readonly #mark = `SBX_PROBE_RUN=${randomBytes(6).toString('hex')}`
  readonly #closing = new AsyncDisposableStack()
  #origin!: Origin
  #namedOrigin!: Origin
  #server: ProbedServer | undefined
  #command = ''
  #count = 0

  private constructor(account: Account) {
    this.account = account
    sweepLabs()
    this.#root = mkdtempSync(join(LABS, `waldo-probes-${process.pid}-`))
    this.#closing.defer(() => rmSync(this.#root, { recursive: true, force: true }))
  }

  static async open(account: Account): Promise<Bench> {
    const bench = new Bench(account)
    try {
      await bench.#prepare()
      await bench.#restart()
    } catch (error) {
      await bench[Symbol.asyncDispose]()
      throw error
    }
    return bench
  }

  async #prepare(): Promise<void> {
    chmodSync(this.#root, 0o755)
    for (const directory of [this.home, join(this.home, '.codex')]) {
      mkdirSync(directory)
      chownSync(directory, this.account.uid, this.account.gid)
    }
    this.#command = OTHER_SERVER ?? `${installExecutable(this.#root)} serve --listen ws://127.0.0.1:0`
    this.#origin = this.#closing.use(await Origin.listen('127.0.0.1'))
    // On port 80 of an address of this machine that nobody else uses.
    const [a, b, c] = randomBytes(3)
    const address = `127.${a}.${b}.${Math.max(1, c!)}`
    this.#namedOrigin = this.#closing.use(await Origin.listen(address, 80))
    writeFileSync(
      this.#hostsFile,
      `127.0.0.1 localhost\n${address} allowed.test denied.test x.allowed.test.denied.test\n`,
    )
  }

  get originPort(): number {
    return this.#origin.port
  }

  /** All names lead to the origin, so that only the rules keep them apart. */
  get #hostsFile(): string {
    return join(this.#root, 'hosts')
  }

  /** Of the account of the server; what the server keeps is in it. */
  get home(): string {
    return join(this.#root, 'home')
  }

  get server(): ProbedServer {
    return this.#server!
  }

  /** Another server in the same surroundings, for whoever needs it in another state. */
  startServer(more: Partial<ProbedServerOptions> = {}): Promise<ProbedServer> {
    return ProbedServer.start({
      command: this.#command,
      account: this.account,
      cwd: this.home,
      hostsFile: this.#hostsFile,
      ...more,
      env: {
        PATH,
        HOME: this.home,
        USER: this.account.name,
        LOGNAME: this.account.name,
        CODEX_HOME: join(this.home, '.codex'),
        SBX_CANARY_SECRET: this.secret,
        ...more.env,
      },
    })
  }

  async #restart(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]()
    this.#server = undefined
    this.#server = await this.startServer()
  }

  connect(server = this.server): Promise<Connection> {
    return Connection.open(server.url)
  }

  async surroundings(prepare?: string): Promise<Surroundings> {
    const name = `p${String(++this.#count).padStart(3, '0')}`
    const surroundings = await Surroundings.create(join(this.#root, name), this.account, prepare)
    this.takeVisits()
    return surroundings
  }

  /** Who has come to the web servers of the host since the last time. */
  takeVisits(): string[] {
    return [...this.#origin.takeVisits(), ...this.#namedOrigin.takeVisits()]
  }

  /** The members of `process/start` that every command gets. */
  commandDefaults({ ws, out }: Surroundings): { cwd: string; env: Record<string, string> } {
    const [name, value] = this.#mark.split('=')
    return { cwd: `file://${ws}`, env: { PATH, HOME: out, TERM: 'xterm', [name!]: value! } }
  }

  fill<T>(surroundings: Surroundings, value: T): T {
    return surroundings.fill(value, {
      '${PORT}': this.originPort,
      '${SERVERPID}': this.server.pid,
      '${SERVERPORT}': this.server.port,
    })
  }

  /** Ends what commands have left behind; says what it was. */
  killSurvivors(): string[] {
    return killMarked(this.#mark)
  }

  /** Says why the server is of no more use, if so, and starts another. */
  async heal(): Promise<string[]> {
    const ending = this.server.ending
    if (ending !== undefined) {
      await this.#restart()
      return [`the server ended: ${ending}`]
    }
    try {
      await using _ = await this.connect()
      return []
    } catch (error) {
      await this.#restart()
      return [`the server takes no more connections: ${error}`]
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.defer(() => void this.killSurvivors())
    if (this.#server) this.#closing.use(this.#server)
    await this.#closing.disposeAsync()
  }
}

/** Removes what tests that were killed have left. */
function sweepLabs(): void {
  for (const name of readdirSync(LABS)) {
    const [, pid] = LAB_NAME.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(LABS, name), { recursive: true, force: true })
  }
}

/** The commands of the probes need node, wherever it is. */
const PATH = [...new Set(['/usr/local/bin', '/usr/bin', '/bin', dirname(Bun.which('node') ?? '/usr/bin/node')])].join(
  ':',
)
